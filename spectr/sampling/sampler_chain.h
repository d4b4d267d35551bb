#pragma once

#include <cstddef>
#include <span>

#include "spectr/base/logits.h"
#include "spectr/base/result.h"
#include "spectr/base/token.h"
#include "spectr/sampling/warp_options.h"
#include "spectr/transport/distribution.h"

namespace spectr {

/// Returns the distribution after samplers in any order: a short list, or dense if no token is excluded.
///
/// XTC flips a coin for each token: with probability π = xtc_probability it excludes all top choices except
/// the last. The token then has the mixture q = (1 − π) · q_keep + π · q_cut of the distributions for the two
/// outcomes, each passed through the rest of the chain. This function returns the mixture. Sampling from it
/// is equivalent to flipping the coin first, and a method that is lossless for every target is lossless for
/// q.
///
/// Reads the whole row unless top-k comes first. Requires: no adaptive_p among the samplers. Fails if a logit
/// is NaN or +∞, or if all are −∞. Cost: O(V + n log V) for n tokens that are kept.
Result<Distribution> sampler_chain(const Logits& row, std::span<const Sampler> samplers,
                                   const WarpOptions& options, std::span<const Token> history,
                                   std::size_t vocabulary);

/// Fails if `candidates`, the likeliest of a row, is empty or has a logit that is NaN or +∞.
Result<void> check_candidates(std::span<const Candidate> candidates);

}  // namespace spectr
