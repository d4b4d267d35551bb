#pragma once

#include <cstddef>

#include "spectr/base/logits.h"
#include "spectr/base/recycled.h"
#include "spectr/base/token.h"
#include "spectr/transport/distribution.h"

namespace spectr {

/// Returns −log softmax(logits)[token] in nats: temperature 1, no filters. Requires: 0 ≤ token < V, no logit
/// NaN or +∞, one above −∞. Cost: O(V).
double negative_log_likelihood(const Logits& logits, Token token);

/// A token and its log-probability under the model's own distribution, in nats.
struct Likelihood {
  Token token;
  double log_probability;
};

/// Returns the min(n, V) likeliest tokens, likeliest first, ties by the lower id. Tokens of logit −∞
/// come last, with log-probability −∞. Tokens whose logit is NaN are left out; if there are any, finite
/// logits have log-probability NaN. Requires otherwise: no logit +∞, one above −∞. Cost: O(V + n log
/// n).
RecycledVector<Likelihood> likeliest(const Logits& logits, std::size_t n);

/// Returns the n likeliest tokens of a distribution with their log-probabilities (fewer if fewer have a
/// positive probability), likeliest first, ties by the lower id. Cost: O(size + n log n).
RecycledVector<Likelihood> likeliest(const Distribution& distribution, std::size_t n);

}  // namespace spectr
