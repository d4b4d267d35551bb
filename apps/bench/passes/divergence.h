#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "apps/support/json.h"
#include "spectr/base/result.h"
#include "spectr/lm/language_model.h"

namespace spectr::bench {

/// How far the distribution p of the next token is from the reference's q, at temperature 1 and unfiltered.
struct Divergence {
  double kl = 0.0;        ///< Σ q log(q / p), in nats; infinite where p is 0 and q is not
  double tv = 0.0;        ///< ½ Σ |q − p|
  bool same_top = false;  ///< both have the same likeliest token, of equal ones the first
};

/// Of the distributions of two rows of logits. Requires: equal sizes, no NaN or +∞, one above −∞.
Divergence divergence(const Logits& logits, const Logits& reference);

/// What a model loses against `reference`, a model of the same vocabulary (its weights before they were
/// rounded, say), over `contexts`: rows {tokens_from, tokens_to, contexts, kl, tv, same_top}, the means over
/// contexts of so many tokens, and last of all, with tokens_from and tokens_to null. Contexts are cut to what
/// both models have room for, at their ends. Error: another vocabulary, a context of no tokens, logits that
/// are no numbers. `done(contexts done)` is called as the work goes on.
Result<Json> measure_divergence(const LanguageModel& model, const LanguageModel& reference,
                                std::span<const std::vector<Token>> contexts,
                                const std::function<void(std::size_t)>& done);

}  // namespace spectr::bench
