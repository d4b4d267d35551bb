#include "lab/theory/over_acceptance.h"

#include <algorithm>
#include <cmath>

namespace spectr::lab {

BiasedStep biased_step(std::span<const double> p, std::span<const double> q, double epsilon,
                       Correction correction) {
  BiasedStep out{0.0, 0.0, 0.0, std::vector<double>(p.size())};
  std::vector<double> weights(p.size());
  double weight = 0.0;
  for (std::size_t y = 0; y < p.size(); ++y) {
    out.distribution[y] = std::min(p[y], q[y] + epsilon);
    out.rejection += p[y] - out.distribution[y];
    weight += weights[y] = correction == Correction::opt ? std::max(0.0, q[y] - p[y]) : q[y];
  }
  for (std::size_t y = 0; y < p.size(); ++y) {
    const double corrected = weight > 0.0 ? weights[y] / weight : 0.0;
    out.miss += (p[y] - out.distribution[y]) * (1.0 - corrected);
    out.distribution[y] += out.rejection * corrected;
    out.bias += 0.5 * std::abs(out.distribution[y] - q[y]);
  }
  return out;
}

double min_bias(std::span<const double> p, std::span<const double> q, double epsilon) {
  double distance = 0.0, rejection = 0.0;
  for (std::size_t y = 0; y < p.size(); ++y) {
    const double b = p[y] > 0.0 ? std::min(1.0, (q[y] + epsilon) / p[y]) : 1.0;
    distance += std::abs(q[y] - b * p[y]);
    rejection += (1.0 - b) * p[y];
  }
  return 0.5 * distance - 0.5 * rejection;
}

BiasedText biased_text(const MarkovPair& pair, double epsilon, Correction correction) {
  const std::size_t V = pair.states();
  BiasedText out;
  std::vector<double> distribution(V, 1.0 / static_cast<double>(V));
  for (std::size_t n = 0; n < pair.horizon(); ++n) {
    std::vector<double> next(V, 0.0);
    for (std::size_t x = 0; x < V; ++x) {
      const auto p = pair.p(n, x), q = pair.q(n, x);
      const BiasedStep step = biased_step(p, q, epsilon, correction);
      out.rejections += distribution[x] * step.rejection;
      out.misses += distribution[x] * step.miss;
      out.bias += distribution[x] * step.bias;
      for (std::size_t y = 0; y < V; ++y) {
        out.distance += distribution[x] * std::max(0.0, q[y] - p[y]);
        next[y] += distribution[x] * step.distribution[y];
      }
    }
    distribution = std::move(next);
  }
  return out;
}

std::vector<double> epsilons(const MarkovPair& pair, std::size_t steps) {
  double max = 0.0;
  for (std::size_t n = 0; n < pair.horizon(); ++n) {
    for (std::size_t x = 0; x < pair.states(); ++x) {
      for (std::size_t y = 0; y < pair.states(); ++y) max = std::max(max, pair.p(n, x)[y] - pair.q(n, x)[y]);
    }
  }
  std::vector<double> all;
  for (std::size_t i = 0; i <= steps; ++i) {
    all.push_back(max * static_cast<double>(i) / static_cast<double>(steps));
  }
  return all;
}

}  // namespace spectr::lab
