#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "spectr/transport/distribution.h"

namespace spectr::bench {

/// A draft's distribution and its target's.
struct Distributions {
  Distribution p, q;
};

/// Distributions as models give them: log-normal, so that few tokens are likely, the target sharper and with
/// noise of its own.
inline Distributions model_like_distributions(std::size_t size, std::uint32_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise;
  std::vector<double> p(size), q(size);
  for (std::size_t x = 0; x < size; ++x) {
    const double logit = 2.5 * noise(random);
    p[x] = std::exp(logit);
    q[x] = std::exp(1.2 * logit + 0.5 * noise(random));
  }
  return {Distribution::from_weights(p), Distribution::from_weights(q)};
}

}  // namespace spectr::bench
