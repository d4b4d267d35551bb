#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "apps/support/json.h"
#include "spectr/base/result.h"
#include "spectr/lm/language_model.h"

namespace spectr::bench {

/// Distance of the next-token distribution p from the reference's q, at temperature 1 and unfiltered.
struct Divergence {
  double kl = 0.0;        ///< Σ q log(q / p), in nats; infinite if p is 0 and q is not
  double tv = 0.0;        ///< ½ Σ |q − p|
  bool same_top = false;  ///< both have the same most likely token; ties go to the first
};

/// Compares the distributions of two rows of logits. Requires: equal sizes, no NaN or +∞, one above −∞.
Divergence divergence(const Logits& logits, const Logits& reference);

/// Measures the loss of a model against `reference`, a model with the same vocabulary (for instance its
/// unquantized weights), over `contexts`. Returns rows {tokens_from, tokens_to, contexts, kl, tv, same_top}
/// with means over contexts by length; the last row covers all, with null bounds. Contexts are truncated to
/// what both models have room for. Fails if the vocabularies differ, a context is empty, or logits are NaN or
/// infinite. Calls `done(contexts done)` as it progresses.
Result<Json> measure_divergence(const LanguageModel& model, const LanguageModel& reference,
                                std::span<const std::vector<Token>> contexts,
                                const std::function<void(std::size_t)>& done);

}  // namespace spectr::bench
