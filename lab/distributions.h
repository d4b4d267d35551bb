#pragma once

#include <cstddef>
#include <random>
#include <string_view>

#include "spectr/base/result.h"
#include "spectr/lm/tabular_model.h"
#include "spectr/transport/plans.h"

namespace spectr::lab {

/// Returns Ber(a): token 1 with probability a, token 0 otherwise.
inline Distribution bernoulli(double a) {
  return Distribution::from_weights({1.0 - a, a});
}

/// Returns U(n) on d tokens: uniform on the first n.
inline Distribution uniform(std::size_t n, std::size_t d) {
  std::vector<double> weights(d, 0.0);
  std::fill_n(weights.begin(), n, 1.0);
  return Distribution::from_weights(weights);
}

/// Returns uniform random numbers, normalised.
inline Distribution random_distribution(std::size_t vocabulary, std::mt19937& generator) {
  std::vector<double> weights(vocabulary);
  for (double& w : weights) w = uniform53(generator);
  return Distribution::from_weights(weights);
}

/// Returns the acceptance of the named plan for k drafts from p.
inline Result<double> acceptance(std::string_view plan, const Distribution& p, const Distribution& q,
                                 std::size_t k) {
  SPECTR_TRY(const PlanRule* rule, find_plan(plan));
  SPECTR_TRY(const auto built, rule->build(DraftDistributions(p, k), q, {}));
  return built->acceptance();
}

}  // namespace spectr::lab
