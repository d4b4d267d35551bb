#pragma once

#include <cstdint>
#include <filesystem>
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

/// Tries a draft model as it is, in Q4_0, and in Q4_0 with the first 32,768 tokens alone: times its passes
/// and the target's, and compares the two models' distributions at the tokens of a short sample, prose and
/// code. What cannot be made of the file is left out. The first one is the file as it is. It takes as long as
/// loading the draft so often, and a second. Nothing else may run passes meanwhile. Error: of load_draft.
Result<std::vector<SlimTrial>> try_slim(const Transformer& target, const Tokenizer& tokenizer,
                                        const std::filesystem::path& draft, ThreadPool& pool,
                                        const LoadOptions& options);

/// The trial that promises the most tokens per second; the first one unless another is 2 % better.
const SlimTrial& best_of(const std::vector<SlimTrial>& trials);

}  // namespace spectr
