#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "spectr/backend/sharded/communicator.h"
#include "spectr/backend/sharded/rank_link.h"
#include "spectr/backend/sharded/rounds.h"
#include "spectr/backend/sharded/split.h"
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
  /// The communicator must outlive it. Requires: rank 0; 2 ≤ ranks ≤ communicator.all_ranks(), or 1 of 1.
  ShardedBackend(std::unique_ptr<Backend> backend, Communicator& communicator, Split split, std::size_t ranks)
      : backend_(std::move(backend)),
        communicator_(communicator),
        split_(split),
        link_(std::make_shared<RankLink>(communicator)) {
    communicator.use_first(ranks);
  }
  ~ShardedBackend() override;
  ShardedBackend(const ShardedBackend&) = delete;
  ShardedBackend& operator=(const ShardedBackend&) = delete;

  /// Lets the others load their parts of the model in `file`. Error: a rank that cannot open its copy of the
  /// file, or has another one, by name.
  Result<void> call(const Gguf& file, const KvChoice& kv, const RopeChoice& rope);
  /// Waits until the others have. Error: a rank that could not, by name.
  Result<void> all_loaded();

  std::size_t ranks() const { return communicator_.ranks(); }

  // What passes spend, and what exchanges cost: not while a pass runs, and not from two threads at a time.

  /// By rank, of the passes since this was last asked. Error: of the communicator.
  Result<std::vector<RankTimes>> take_times();
  /// Seconds of a sum of so many numbers, on average.
  Result<double> sum_seconds(const Rounds& rounds);
  /// Seconds of passing so many numbers from each rank to the next and from the last to the leader.
  Result<double> ring_seconds(const Rounds& rounds);

  const Caps& caps() const override { return backend_->caps(); }
  std::string place() const override;
  Result<void> take_part(ModelSpec& spec) const override;
  Result<std::unique_ptr<Ops>> make(const ModelSpec& spec, const KvTypes& kv) const override;

 private:
  Result<void> hear();

  std::unique_ptr<Backend> backend_;
  Communicator& communicator_;
  Split split_;
  std::shared_ptr<RankLink> link_;  // of the model's passes
  enum class State { idle, called, loaded } state_ = State::idle;
};

/// Lets the others of a communicator end, once all models have.
void dismiss(Communicator& communicator);

}  // namespace spectr
