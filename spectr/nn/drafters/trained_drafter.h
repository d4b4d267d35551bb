#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/base/thread_pool.h"
#include "spectr/gguf/gguf.h"
#include "spectr/nn/drafters/drafter_spec.h"
#include "spectr/nn/transformer.h"

namespace spectr {

class DrafterSession;

/// Settings of a drafter's session.
struct FollowSettings {
  std::size_t context = 0;     ///< maximum tokens of the sequence; 0: as in the target's session
  std::size_t nodes = 1;       ///< maximum nodes of a tree
  std::size_t block_rows = 0;  ///< rows of a block, 2 or more; 0: as in the file
};

/// A trained drafter on a backend: a small network that reads states of a target (EAGLE-3, DFlash) and drafts
/// for it alone. Any number of sessions may share it, from any threads; their passes are serialized.
class TrainedDrafter {
 public:
  /// The result of a pass: drafts, or keys and values of the target's tokens (run_context_pass).
  enum class Pass { draft, context };

  /// Reads the file for `target`, which must have been loaded with taps_of() this file, and uploads the
  /// weights, including those that come from the target's file. `file` may also be the target's own if it
  /// has a layer for drafting (has_next_token_layer()). The target must outlive the drafter. `pool`
  /// shares the work, if set. `slimming` may shorten the head and convert the drafter's weights; the target's
  /// are not affected. Fails if the file does not fit this target, cannot be reduced as asked, or the backend
  /// cannot compute it.
  static Result<std::unique_ptr<TrainedDrafter>> load(Gguf file, const Transformer& target,
                                                      std::shared_ptr<const Backend> backend,
                                                      ThreadPool* pool = nullptr,
                                                      const Slimming& slimming = {});

  const Gguf& file() const { return file_; }
  const DrafterSpec& spec() const { return *spec_; }
  /// Returns the file with the head's matrix: its own or the target's.
  const Gguf& head_file() const;
  std::string_view name() const { return spec_->model.name; }
  std::size_t vocabulary() const { return spec_->model.vocabulary; }
  /// True if it has no keys and values of its own, but reads those of the target.
  bool reads_target_cache() const { return reads_target_cache_; }
  /// The tokens whose features it needs.
  Features::Recorded features() const {
    return reads_target_cache_ ? Features::Recorded::last : Features::Recorded::all;
  }

  /// Returns the maximum tokens of a draft: the predicting rows of a block of `block_rows` rows (0: as in the
  /// file); the largest std::size_t if the drafter has no blocks.
  std::size_t max_depth(std::size_t block_rows = 0) const;

  /// Starts a session that drafts for the sequence of `target`, a session of the drafter's target, and reads
  /// its features. Both must be used by one thread at a time; the target's session must outlive it. Fails if
  /// there is no memory, or the settings do not fit the drafter.
  Result<std::unique_ptr<DrafterSession>> follow(Session& target, const FollowSettings& settings) const;

 private:
  friend class DrafterSession;
  friend class BlockSession;

  TrainedDrafter(Gguf file, std::unique_ptr<const DrafterSpec> spec, const Transformer& target,
                 std::shared_ptr<const Backend> backend, std::unique_ptr<Ops> ops);
  /// Runs a pass.
  Result<HeldLogits> run(Pass pass, const PassBatch& batch) const;
  /// Returns a row of logits of BlockSpec::markov for each token.
  Result<HeldLogits> markov_biases(std::span<const Token> tokens) const;
  Result<void> load_markov(ThreadPool* pool);

  Gguf file_;                                   // weights may refer to its bytes
  std::vector<std::vector<std::byte>> copies_;  // or to these
  std::unique_ptr<const DrafterSpec> spec_;
  const Transformer& target_;
  bool reads_target_cache_;
  std::shared_ptr<const Backend> backend_;
  mutable std::mutex mutex_;  // guards the operations: one pass at a time
  std::unique_ptr<Ops> ops_;
  std::unique_ptr<Ops> markov_;  // operations of BlockSpec::markov
  CacheId markov_cache_ = 0;     // unused: the model has no layers
  mutable PassBatch markov_batch_;
};

}  // namespace spectr
