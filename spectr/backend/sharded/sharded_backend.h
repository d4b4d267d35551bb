#pragma once

#include <memory>

#include "spectr/backend/sharded/communicator.h"
#include "spectr/gguf/gguf.h"
#include "spectr/nn/kv_type.h"
#include "spectr/nn/ops.h"
#include "spectr/nn/rope_choice.h"

namespace spectr {

/// The leader's backend for one model: what another backend computes, of the leader's part, with the sums
/// over all ranks. The others follow() meanwhile. What it is used for, in this order: call() the others, load
/// the model, check that they all have loaded it; with it their parts end.
class ShardedBackend final : public Backend {
 public:
  /// The communicator must outlive it. Requires: rank 0.
  ShardedBackend(std::unique_ptr<Backend> backend, Communicator& communicator)
      : backend_(std::move(backend)), communicator_(communicator) {}
  ~ShardedBackend() override;
  ShardedBackend(const ShardedBackend&) = delete;
  ShardedBackend& operator=(const ShardedBackend&) = delete;

  /// Lets the others load their parts of the model in `file`. Error: a rank that cannot open its copy of the
  /// file, or has another one, by name.
  Result<void> call(const Gguf& file, const KvChoice& kv, const RopeChoice& rope);
  /// Waits until the others have. Error: a rank that could not, by name.
  Result<void> all_loaded();

  const Caps& caps() const override { return backend_->caps(); }
  Result<void> take_part(ModelSpec& spec) const override;
  Result<std::unique_ptr<Ops>> make(const ModelSpec& spec, const KvTypes& kv) const override;

 private:
  Result<void> hear();

  std::unique_ptr<Backend> backend_;
  Communicator& communicator_;
  enum class State { idle, called, loaded } state_ = State::idle;
};

/// Lets the others of a communicator end, once all models have.
void dismiss(Communicator& communicator);

}  // namespace spectr
