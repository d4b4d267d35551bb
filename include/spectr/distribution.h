// Distributions: probabilities from logits, and draws from them, for engines that compute logits of their
// own.
//
//     const auto q = spectr::probabilities(logits, {.temperature = 0.8, .top_k = 40}).value();
//     const spectr::Token x = spectr::sample(q, {.seed = 1, .block = step}).value();
//
// Distributions are arrays of doubles that belong to the caller. They sum to 1 within 1e-6, and the library
// normalises them in double precision. Errors: bad_input for numbers that are not logits or probabilities,
// and settings out of range; the message names them. Threads: the functions have no state. Cost: O(V), and
// sorting of the tokens that a filter keeps.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "spectr/error.h"
#include "spectr/token.h"

namespace spectr::inline v0 {

/// How logits become a distribution: top-k, top-p, min-p and temperature, in this order. The defaults are
/// those of the command line.
struct Sampling {
  double temperature = 0.8;  ///< 0: a point mass on the largest logit
  std::size_t top_k = 40;    ///< 0 keeps all tokens
  double top_p = 0.95;       ///< 1 keeps all tokens
  double min_p = 0.05;       ///< 0 keeps all tokens

  /// Returns the settings of the model's own distribution: temperature 1 and no filter.
  static Sampling none() noexcept { return {1.0, 0, 1.0, 0.0}; }
};

/// Returns the distribution of the next token, [V]. logits: [V]. Fails if a logit is NaN or +∞, or if all are
/// −∞.
inline Result<std::vector<double>> probabilities(std::span<const float> logits,
                                                 const Sampling& sampling = {}) {
  const spectr_sampling settings{.temperature = sampling.temperature,
                                 .top_p = sampling.top_p,
                                 .min_p = sampling.min_p,
                                 .top_k = sampling.top_k};
  return detail::filled(std::vector<double>(logits.size()), [&](auto& out, spectr_error* error) {
    return spectr_probabilities(logits.data(), logits.size(), &settings, out.data(), error);
  });
}

/// Draws a token. The draw is independent of those of plans and verifiers with the same stream; two draws of
/// this function need different streams. probabilities: [V].
inline Result<Token> sample(std::span<const double> probabilities, const Stream& stream) {
  const spectr_stream random = detail::stream_of(stream);
  return detail::filled(Token{}, [&](Token& token, spectr_error* error) {
    return spectr_sample(probabilities.data(), probabilities.size(), &random, &token, error);
  });
}

}  // namespace spectr::inline v0
