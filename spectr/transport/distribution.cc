#include "spectr/transport/distribution.h"

#include <cmath>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/base/numeric.h"
#include "spectr/base/recycled.h"
#include "spectr/transport/math/distribution_pair.h"

namespace spectr {
namespace {

// Sums further from 1 than this are treated as errors rather than as rounding.
constexpr double sum_tolerance = 1e-7 * (1.0 + 1e-6);

double sum_of_weights(std::span<const double> weights) {
  bool negative = false;
  for (double w : weights) negative |= !(w >= 0.0);
  SPECTR_CHECK(!negative);
  return sum_of(weights);
}

}  // namespace

Distribution::Distribution(RecycledVector<Token> tokens, RecycledVector<double> weights, double total,
                           std::size_t vocabulary)
    : tokens_(std::move(tokens)), probabilities_(std::move(weights)), vocabulary_(vocabulary) {
  SPECTR_CHECK(total > 0.0 && std::isfinite(total));
  if (total == 1.0) return;
  // 1 / total would overflow if total is subnormal; dividing each entry does not.
  if (const double factor = 1.0 / total; std::isfinite(factor)) {
    for (double& w : probabilities_) w *= factor;
  } else {
    for (double& w : probabilities_) w /= total;
  }
}

Result<Distribution> Distribution::dense(const std::vector<double>& probabilities, std::string_view name) {
  if (probabilities.empty()) return error("{} is empty", name);
  double total = 0.0;
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    const double p = probabilities[i];
    if (!std::isfinite(p)) return error("{}[{}] is {}", name, i, p);
    if (p < 0.0) return error("{}[{}] is negative: {}", name, i, p);
    total += p;
  }
  if (!(std::abs(total - 1.0) <= sum_tolerance)) return error("{} sums to {:.12g}, not to 1", name, total);
  return from_weights(std::span<const double>(probabilities));
}

Distribution Distribution::from_weights(RecycledVector<double> weights) {
  const double total = sum_of_weights(weights);
  return from_weights(std::move(weights), total);
}

Distribution Distribution::from_weights(RecycledVector<double> weights, double total) {
  const std::size_t vocabulary = weights.size();
  return Distribution({}, std::move(weights), total, vocabulary);
}

Distribution Distribution::from_weights(std::span<const double> weights) {
  return from_weights(RecycledVector<double>(weights.begin(), weights.end()));
}

Distribution Distribution::from_weights(RecycledVector<Token> tokens, RecycledVector<double> weights,
                                        std::size_t vocabulary) {
  SPECTR_CHECK(tokens.size() == weights.size());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (weights[i] == 0.0) continue;
    SPECTR_CHECK(tokens[i] >= 0 && static_cast<std::size_t>(tokens[i]) < vocabulary);
    SPECTR_CHECK(kept == 0 || tokens[kept - 1] < tokens[i]);
    tokens[kept] = tokens[i];
    weights[kept++] = weights[i];
  }
  tokens.resize(kept);
  weights.resize(kept);
  const double total = sum_of_weights(weights);
  return Distribution(std::move(tokens), std::move(weights), total, vocabulary);
}

Distribution Distribution::from_weights(std::span<const Token> tokens, std::span<const double> weights,
                                        std::size_t vocabulary) {
  return from_weights(RecycledVector<Token>(tokens.begin(), tokens.end()),
                      RecycledVector<double>(weights.begin(), weights.end()), vocabulary);
}

Distribution Distribution::point(Token token, std::size_t vocabulary) {
  return from_weights(RecycledVector<Token>{token}, {1.0}, vocabulary);
}

double total_variation(const Distribution& p, const Distribution& q) {
  const DistributionPair pair(p, q);
  return 0.5 *
         sum_in_blocks(0, pair.size(), [&](std::size_t i) { return std::abs(pair.p()[i] - pair.q()[i]); });
}

}  // namespace spectr
