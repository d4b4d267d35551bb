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

/// How a drafter's session drafts.
struct FollowSettings {
  std::size_t context = 0;     ///< tokens that the sequence may have; 0: as many as the target's session
  std::size_t nodes = 1;       ///< of the largest tree
  std::size_t block_rows = 0;  ///< rows of a block, 2 or more; 0: as many as the file says
};

/// A trained drafter on a backend: a small network that reads states of a target (EAGLE-3, DFlash) and drafts
/// for it alone. Any number of sessions may share it, from any threads: their passes follow one another.
class TrainedDrafter {
 public:
  /// The result of a pass: drafts, or keys and values of the target's tokens (run_context_pass).
  enum class Pass { draft, context };

  /// Reads the file for `target`, which must have been loaded with taps_of() this file, and uploads the
  /// weights, those among them that are the target's. `file` may also be the
  /// target's own, if it has a layer that drafts (has_next_token_layer()). The target must outlive the
  /// drafter. `pool` shares the work, if there is one. Fails if the file cannot be used with this target, or
  /// the backend cannot compute it.
  static Result<std::unique_ptr<TrainedDrafter>> load(Gguf file, const Transformer& target,
                                                      std::shared_ptr<const Backend> backend,
                                                      ThreadPool* pool = nullptr);

  const Gguf& file() const { return file_; }
  const DrafterSpec& spec() const { return *spec_; }
  std::string_view name() const { return spec_->model.name; }
  std::size_t vocabulary() const { return spec_->model.vocabulary; }

  /// Most tokens of a draft: the predicting rows of a block of `block_rows` rows (0: as many as the file
  /// says); the largest std::size_t if the drafter has no blocks.
  std::size_t max_depth(std::size_t block_rows = 0) const;

  /// Starts a session that drafts for the sequence of `target`, a session of the drafter's target, and reads
  /// its features. Both must be used by one thread at a time; the target's session must outlive it. Fails if
  /// there is no memory, or the settings do not fit the drafter.
  Result<std::unique_ptr<DrafterSession>> follow(Session& target, const FollowSettings& settings) const;

 private:
  friend class DrafterSession;
  friend class BlockSession;

  TrainedDrafter(Gguf file, std::unique_ptr<const DrafterSpec> spec, std::shared_ptr<const Backend> backend,
                 std::unique_ptr<Ops> ops);
  /// Runs a pass.
  Result<HeldLogits> run(Pass pass, const PassBatch& batch) const;
  /// Returns a row of BlockSpec::markov for each token.
  Result<HeldLogits> markov_biases(std::span<const Token> tokens) const;
  Result<void> load_markov(ThreadPool* pool);

  Gguf file_;                                   // weights may refer to its bytes
  std::vector<std::vector<std::byte>> copies_;  // or to these
  std::unique_ptr<const DrafterSpec> spec_;
  std::shared_ptr<const Backend> backend_;
  mutable std::mutex mutex_;  // of the operations: one pass at a time
  std::unique_ptr<Ops> ops_;
  std::unique_ptr<Ops> markov_;  // of BlockSpec::markov
  CacheId markov_cache_ = 0;     // it has no layers that use it
  mutable PassBatch markov_batch_;
};

}  // namespace spectr
