#include "lab/theory/over_acceptance.h"

#include <algorithm>
#include <cmath>

namespace spectr::lab {

std::vector<double> over_acceptance(std::span<const double> p, std::span<const double> q, double epsilon) {
  std::vector<double> b;
  for (std::size_t y = 0; y < p.size(); ++y)
    b.push_back(p[y] > 0.0 ? std::min(1.0, std::max(0.0, q[y] + epsilon) / p[y]) : 1.0);
  return b;
}

double min_bias(std::span<const double> p, std::span<const double> q, std::span<const double> b) {
  double distance = 0.0, rejection = 0.0;
  for (std::size_t y = 0; y < p.size(); ++y) {
    distance += std::abs(q[y] - b[y] * p[y]);
    rejection += (1.0 - b[y]) * p[y];
  }
  return 0.5 * distance - 0.5 * rejection;
}

bool attains_min_bias(std::span<const double> p, std::span<const double> q, std::span<const double> b,
                      std::span<const double> correction) {
  constexpr double rounding = 1e-12;
  double rejection = 0.0;
  for (std::size_t y = 0; y < p.size(); ++y) rejection += (1.0 - b[y]) * p[y];
  for (std::size_t y = 0; y < p.size(); ++y) {
    if (rejection * correction[y] > std::max(0.0, q[y] - b[y] * p[y]) + rounding) return false;
  }
  return true;
}

BiasedStep biased_step(std::span<const double> p, std::span<const double> q, std::span<const double> b,
                       std::span<const double> correction) {
  BiasedStep out{0.0, 0.0, 0.0, std::vector<double>(p.size())};
  for (std::size_t y = 0; y < p.size(); ++y) {
    out.distribution[y] = b[y] * p[y];
    out.rejection += p[y] - out.distribution[y];
  }
  for (std::size_t y = 0; y < p.size(); ++y) {
    out.miss += (p[y] - out.distribution[y]) * (1.0 - correction[y]);
    out.distribution[y] += out.rejection * correction[y];
    out.bias += 0.5 * std::abs(out.distribution[y] - q[y]);
  }
  return out;
}

std::vector<double> correction_of(std::span<const double> p, std::span<const double> q,
                                  std::span<const double> b, Correction correction) {
  std::vector<double> weights(p.size());
  double total = 0.0;
  for (std::size_t y = 0; y < p.size(); ++y)
    total += weights[y] = correction == Correction::opt ? std::max(0.0, q[y] - b[y] * p[y]) : q[y];
  if (total == 0.0) return {q.begin(), q.end()};
  for (double& weight : weights) weight /= total;
  return weights;
}

BiasedStep biased_step(std::span<const double> p, std::span<const double> q, double epsilon,
                       Correction correction) {
  const std::vector<double> b = over_acceptance(p, q, epsilon);
  return biased_step(p, q, b, correction_of(p, q, b, correction));
}

double min_bias(std::span<const double> p, std::span<const double> q, double epsilon) {
  return min_bias(p, q, over_acceptance(p, q, epsilon));
}

BiasedText biased_text(const MarkovPair& pair,
                       const std::function<BiasedStep(std::size_t n, std::size_t x)>& rule) {
  const std::size_t V = pair.states();
  BiasedText out;
  std::vector<double> distribution(V, 1.0 / static_cast<double>(V));
  for (std::size_t n = 0; n < pair.horizon(); ++n) {
    std::vector<double> next(V, 0.0);
    for (std::size_t x = 0; x < V; ++x) {
      const auto p = pair.p(n, x), q = pair.q(n, x);
      const BiasedStep step = rule(n, x);
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

BiasedText biased_text(const MarkovPair& pair, double epsilon, Correction correction) {
  return biased_text(pair, [&](std::size_t n, std::size_t x) {
    return biased_step(pair.p(n, x), pair.q(n, x), epsilon, correction);
  });
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
