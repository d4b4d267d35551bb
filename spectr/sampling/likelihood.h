#pragma once

#include <cstddef>

#include "spectr/base/logits.h"
#include "spectr/base/recycled.h"
#include "spectr/base/token.h"
#include "spectr/transport/distribution.h"

namespace spectr {

/// −log softmax(logits)[token], in nats: under the model's own distribution, temperature 1 and no filter.
/// Requires: 0 ≤ token < V, no logit NaN or +∞, one above −∞. Cost: O(V).
double negative_log_likelihood(const Logits& logits, Token token);

/// A token and its log-probability under the model's own distribution, in nats.
struct Likelihood {
  Token token;
  double log_probability;
};

/// The min(n, V) likeliest tokens, likeliest first, ties by the lower id; tokens of logit −∞ come last, with
/// log-probability −∞; those of logit NaN, of a model that has broken down, are left out, and no other
/// log-probability is a number then. Requires otherwise: no logit NaN or +∞, one above −∞. Cost: O(V + n log
/// n).
RecycledVector<Likelihood> likeliest(const Logits& logits, std::size_t n);

/// The n likeliest tokens of a distribution with their log-probabilities under it (fewer, where fewer have a
/// positive probability), likeliest first, ties by the lower id. Cost: O(size + n log n).
RecycledVector<Likelihood> likeliest(const Distribution& distribution, std::size_t n);

}  // namespace spectr
