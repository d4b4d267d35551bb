#include "apps/bench/passes/laws.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "spectr/base/logits.h"
#include "spectr/sampling/warp.h"

namespace spectr::bench {

Distributions random_laws(std::size_t vocabulary, std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto law = [&] {
    std::vector<double> weights(vocabulary);
    for (double& w : weights) w = -std::log1p(-std::generate_canonical<double, 53>(random));
    return Distribution::from_weights(weights);
  };
  Distribution p = law(), q = law();
  return {std::move(p), std::move(q)};
}

Distributions language_laws(std::size_t vocabulary, std::uint32_t seed) {
  constexpr double exponent = 2.5, first_ranks = 1.5;  // of the Zipf–Mandelbrot law
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise;
  std::vector<std::size_t> rank(vocabulary);
  std::iota(rank.begin(), rank.end(), std::size_t{0});
  std::ranges::shuffle(rank, random);
  std::vector<double> p(vocabulary), q(vocabulary);
  for (std::size_t x = 0; x < vocabulary; ++x) {
    const double logit = -exponent * std::log(static_cast<double>(rank[x]) + first_ranks) + noise(random);
    q[x] = std::exp(logit);
    p[x] = std::exp(0.9 * logit + 0.5 * noise(random));  // the draft's distribution is flatter
  }
  return {Distribution::from_weights(p), Distribution::from_weights(q)};
}

Distributions filtered(const Distributions& laws) {
  const Warp warp = Warp::make({}).value();
  const auto filter = [&](const Distribution& law) {
    std::vector<double> logits(law.probabilities().begin(), law.probabilities().end());
    for (double& x : logits) x = std::log(x);
    return warp.distribution(Logits(std::span<const double>(logits)), {}, logits.size()).value();
  };
  return {filter(laws.p), filter(laws.q)};
}

}  // namespace spectr::bench
