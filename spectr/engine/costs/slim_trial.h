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

/// The measured value of a draft model with these options.
struct SlimTrial {
  SlimOptions options;
  double pass_seconds;  ///< of a pass of one row
  double acceptance;    ///< Σ min(p, q) of the models' own distributions, averaged over a sample
  /// Estimated speedup over plain decoding with the best chain of one to eight drafts, if each draft is
  /// accepted with that probability.
  double speedup;
};

/// Smaller draft models, in bytes, are not worth a trial.
inline constexpr std::uint64_t min_bytes_to_slim = std::uint64_t{64} << 20;

/// Returns the trial with the highest expected throughput: the first one unless another is 2 % better.
/// Requires: trials is not empty.
std::size_t best_of(const std::vector<SlimTrial>& trials);

/// Returns the variants: the file as it is, Q4_0 with the first 32,768 tokens, and Q4_0 with all tokens.
std::span<const SlimOptions> slim_variants();

struct SlimTrials {
  std::vector<SlimTrial> trials;  ///< the first trial is of the file as it is
  std::size_t best = 0;           ///< index, by best_of()
  LoadedModel model;              ///< the best one

  const SlimOptions& chosen() const { return trials[best].options; }
};

/// Tries a draft model as it is and in other variants: times its passes and the target's, and compares the
/// two models' distributions at the tokens of a short sample of prose and code. Variants that are impossible
/// for the file are omitted. Takes a second, in addition to loading the draft once per variant; `done`
/// receives the number of finished variants. No other passes may run meanwhile. Requires: the first variant
/// is the file as it is. Fails as load_draft().
Result<SlimTrials> try_slim(const Transformer& target, const Tokenizer& tokenizer,
                            const std::filesystem::path& draft, ThreadPool& pool, const LoadOptions& options,
                            std::span<const SlimOptions> variants = slim_variants(),
                            const std::function<void(std::size_t)>& done = {});

}  // namespace spectr
