#include "lab/theory/naive_repetition.h"

#include <algorithm>
#include <cmath>

namespace spectr::lab {

Token naive_repetition(const Distribution& p, const Distribution& q, std::size_t k, Choices& choices) {
  for (std::size_t i = 0; i < k; ++i) {
    const Token x = p.draw(choices);
    if (choices.accept(std::min(1.0, q[x] / p[x]))) return x;
  }
  std::vector<double> residual;
  for (Token y = 0; static_cast<std::size_t>(y) < q.vocabulary(); ++y)
    residual.push_back(std::max(0.0, q[y] - p[y]));
  return static_cast<Token>(choices.draw(residual));
}

std::vector<double> naive_distribution(const Distribution& p, const Distribution& q, std::size_t k) {
  const double rejected = total_variation(p, q), beta = 1.0 - rejected;
  const auto n = static_cast<double>(k);
  double tested = 0.0;  // expected number of tests: 1 + (1−β) + … + (1−β)^{k−1}
  for (std::size_t i = 0; i < k; ++i) tested += std::pow(rejected, static_cast<double>(i));
  std::vector<double> distribution;
  for (Token y = 0; static_cast<std::size_t>(y) < q.vocabulary(); ++y) {
    const double left = beta < 1.0 ? std::max(0.0, q[y] - p[y]) * std::pow(rejected, n - 1.0) : 0.0;
    distribution.push_back(std::min(p[y], q[y]) * tested + left);
  }
  return distribution;
}

}  // namespace spectr::lab
