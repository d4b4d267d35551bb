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

/// The leader's backend for one model: runs another backend on the leader's part and communicates with the
/// other ranks, which must be in follow(). Use in this order: call() the others, load the model, check with
/// all_loaded(). Destroying the backend closes the other ranks' parts.
class ShardedBackend final : public Backend {
 public:
  /// The communicator must outlive the backend. Requires: rank 0; 2 ≤ ranks ≤ all_ranks(), or 1 of 1.
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

  /// Makes the other ranks load their parts of the model in `file`. Error: a rank cannot open its copy of the
  /// file, or its copy differs; the message names the rank.
  Result<void> call(const Gguf& file, const KvChoice& kv, const RopeChoice& rope);
  /// Waits until all other ranks have loaded. Error: a rank failed to load; the message names it.
  Result<void> all_loaded();

  std::size_t ranks() const { return communicator_.ranks(); }

  // Profiling. Must not be called during a pass, nor from two threads at once.

  /// Returns and resets the times of the passes since the last call, by rank. Errors: the communicator's.
  Result<std::vector<RankTimes>> take_times();
  /// Returns the average seconds of an all-reduce of rounds.count numbers.
  Result<double> sum_seconds(const Rounds& rounds);
  /// Returns the average seconds of passing rounds.count numbers once around the ring of ranks.
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
  std::shared_ptr<RankLink> link_;  // shared with the model's operations
  enum class State { idle, called, loaded } state_ = State::idle;
};

/// Makes all other ranks return from follow(). Must be called after all models are closed.
void dismiss(Communicator& communicator);

}  // namespace spectr
