#pragma once

#include <cmath>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

#include "spectr/base/enumerator.h"
#include "spectr/base/numeric.h"
#include "spectr/transport/distribution.h"
#include "spectr/transport/plan.h"

namespace spectr::test {

inline Distribution distribution(std::vector<double> weights) {
  return Distribution::from_weights(std::move(weights));
}

/// Returns the draft distributions of several drafters. The distributions must outlive the result.
inline DraftDistributions several(const std::vector<Distribution>& distributions) {
  std::vector<const Distribution*> pointers;
  for (const Distribution& p : distributions) pointers.push_back(&p);
  return DraftDistributions(pointers);
}

/// Random distributions of various shapes: flat to extremely peaked, with zeros, dense or sparse.
class RandomDistributions {
 public:
  explicit RandomDistributions(std::uint64_t seed) : random_(seed) {}

  double uniform() { return std::generate_canonical<double, 53>(random_); }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(uniform() * static_cast<double>(n)); }

  Distribution dense(std::size_t vocabulary) { return Distribution::from_weights(weights(vocabulary)); }

  Distribution shortened(std::size_t vocabulary) {
    RecycledVector<Token> tokens;
    for (std::size_t x = 0; x < vocabulary; ++x) {
      if (uniform() < 0.6) tokens.push_back(static_cast<Token>(x));
    }
    if (tokens.empty()) tokens.push_back(static_cast<Token>(below(vocabulary)));
    RecycledVector<double> masses = weights(tokens.size());
    return Distribution::from_weights(std::move(tokens), std::move(masses), vocabulary);
  }

  Distribution any(std::size_t vocabulary) {
    return uniform() < 0.5 ? dense(vocabulary) : shortened(vocabulary);
  }

 private:
  RecycledVector<double> weights(std::size_t n) {
    const double peak = 12.0 * uniform() * uniform();
    const double zeros = uniform() < 0.5 ? 0.0 : 0.4;
    RecycledVector<double> all(n, 0.0);
    for (double& w : all) {
      if (uniform() >= zeros) w = std::pow(uniform(), peak);
    }
    all[below(n)] += 1e-3;
    return all;
  }

  std::mt19937_64 random_;
};

/// Returns max_x |a(x) − b(x)|.
inline double distance(const std::vector<double>& a, const Distribution& b) {
  double most = 0.0;
  for (std::size_t x = 0; x < a.size(); ++x) most = std::max(most, std::abs(a[x] - b[static_cast<Token>(x)]));
  return most;
}

/// Returns the distribution of Y given the drafts, by running select() over all its choices.
inline std::vector<double> enumerate_select(const TransportPlan& plan, std::span<const Token> drafts,
                                            std::size_t vocabulary) {
  std::vector<Sum> sums(vocabulary);
  Enumerator outcomes;
  do {
    const Selection y = plan.select(drafts, outcomes);
    sums[static_cast<std::size_t>(y.token)].add(outcomes.probability());
  } while (outcomes.next());
  std::vector<double> distribution_of_y;
  for (const Sum& sum : sums) distribution_of_y.push_back(sum.value());
  return distribution_of_y;
}

/// Returns the probability that select() accepts, over draw() and all choices.
inline double enumerate_acceptance(const TransportPlan& plan) {
  Sum accepted;
  std::vector<Token> drafts(plan.drafts());
  Enumerator outcomes;
  do {
    plan.draw(drafts, outcomes);
    if (plan.select(drafts, outcomes).accepted) accepted.add(outcomes.probability());
  } while (outcomes.next());
  return accepted.value();
}

/// Returns the largest distance, over all drafts, of conditional() from the distribution of select().
inline double worst_conditional(const TransportPlan& plan, std::size_t vocabulary) {
  double most = 0.0;
  std::vector<Token> drafts(plan.drafts());
  Enumerator outcomes;
  do {
    plan.draw(drafts, outcomes);
    most = std::max(most, distance(enumerate_select(plan, drafts, vocabulary), plan.conditional(drafts)));
  } while (outcomes.next());
  return most;
}

}  // namespace spectr::test
