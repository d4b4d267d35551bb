#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/base/thread_pool.h"
#include "spectr/engine/loaded_model.h"

namespace spectr {

/// What a draft model made so small is worth, as it was measured.
struct SlimTrial {
  SlimOptions options;
  double pass_seconds;  ///< of a pass of one row
  double acceptance;    ///< Σ min(p, q), of the models' own distributions: the mean over a sample's contexts
  /// How many times as fast as plain decoding the pair is with the best chain of one to eight drafts, where
  /// every draft is accepted with that probability; reckoned, not run.
  double speedup;
};

/// Draft models of fewer bytes are not worth a trial.
inline constexpr std::uint64_t min_bytes_to_slim = std::uint64_t{64} << 20;

/// Which trial promises the most tokens per second: the first one unless another is 2 % better. Requires:
/// one.
std::size_t best_of(const std::vector<SlimTrial>& trials);

/// What is tried: the file as it is, in Q4_0 with the first 32,768 tokens alone, and in Q4_0 with all tokens.
std::span<const SlimOptions> slim_variants();

struct SlimTrials {
  std::vector<SlimTrial> trials;  ///< the first one is of the file as it is
  std::size_t best = 0;           ///< as best_of() says
  LoadedModel model;              ///< of the best

  const SlimOptions& chosen() const { return trials[best].options; }
};

/// Tries a draft model as it is and in other variants: times its passes and the target's, and compares the
/// two models' distributions at the tokens of a short sample, prose and code. What cannot be made of the file
/// is left out. It takes as long as loading the draft so often, and a second; `done` is told how many
/// variants are. Nothing else may run passes meanwhile. Requires: the first variant is the file as it is.
/// Error: of load_draft.
Result<SlimTrials> try_slim(const Transformer& target, const Tokenizer& tokenizer,
                            const std::filesystem::path& draft, ThreadPool& pool, const LoadOptions& options,
                            std::span<const SlimOptions> variants = slim_variants(),
                            const std::function<void(std::size_t)>& done = {});

}  // namespace spectr
