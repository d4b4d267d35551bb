#include "spectr/transport/acceptance_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "spectr/base/check.h"
#include "spectr/base/numeric.h"
#include "spectr/transport/math/distribution_pair.h"
#include "spectr/transport/partial_plan.h"

namespace spectr {
namespace {

double mass_inside(const Distribution& distribution, std::uint32_t subset) {
  double mass = 0.0;
  for (std::size_t i = 0; i < distribution.size(); ++i) {
    if (subset >> distribution.token(i) & 1u) mass += distribution.probabilities()[i];
  }
  return mass;
}

/// A tuple of drafts x₁ … x_k, reduced to the set of its tokens.
struct Tuple {
  std::uint32_t tokens;
  double probability;
};

/// Returns all tuples of independent drafts.
std::vector<Tuple> tuples_of(const DraftDistributions& p) {
  std::vector<Tuple> all = {{0, 1.0}};
  for (std::size_t i = 0; i < p.count(); ++i) {
    std::vector<Tuple> longer;
    for (const auto& [tokens, probability] : all) {
      for (std::size_t j = 0; j < p[i].size(); ++j) {
        longer.push_back({tokens | 1u << p[i].token(j), probability * p[i].probabilities()[j]});
      }
    }
    all = std::move(longer);
  }
  return all;
}

/// Returns the probability that y is among the drafts.
double drafted(const DraftDistributions& p, Token y) {
  double missed = 1.0;
  for (std::size_t i = 0; i < p.count(); ++i) missed *= 1.0 - p[i][y];
  return 1.0 - missed;
}

}  // namespace

double optimal_acceptance(const Distribution& p, const Distribution& q, std::size_t k) {
  SPECTR_CHECK(k >= 1);
  return PartialAcceptance(p, k, q)(1.0);
}

double optimal_acceptance_by_subsets(const Distribution& q,
                                     const std::function<double(std::uint32_t)>& all_inside) {
  SPECTR_CHECK(q.vocabulary() <= 20);
  double least = 0.0;
  for (std::uint32_t subset = 0; subset < 1u << q.vocabulary(); ++subset) {
    least = std::min(least, mass_inside(q, subset) - all_inside(subset));
  }
  return 1.0 + least;
}

double optimal_acceptance_by_subsets(const DraftDistributions& p, const Distribution& q) {
  return optimal_acceptance_by_subsets(q, [&](std::uint32_t subset) {
    double inside = 1.0;
    for (std::size_t i = 0; i < p.count(); ++i) inside *= mass_inside(p[i], subset);
    return inside;
  });
}

double acceptance_in_the_limit(const Distribution& p, const Distribution& q) {
  const DistributionPair distributions(p, q);
  Sum reachable;
  for (std::size_t j = 0; j < distributions.size(); ++j) {
    if (distributions.p()[j] > 0.0) reachable.add(distributions.q()[j]);
  }
  return std::min(1.0, reachable.value());
}

double tuple_bound(const DraftDistributions& p, const Distribution& q) {
  SPECTR_CHECK(q.vocabulary() <= 12);
  const std::vector<Tuple> tuples = tuples_of(p);
  const auto tokens = static_cast<Token>(q.vocabulary());
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t subset = 0; subset < 1u << tokens; ++subset) {
    Sum accepted;
    for (Token y = 0; y < tokens; ++y) {
      if (subset >> y & 1u) accepted.add(std::min(q[y], drafted(p, y)));
    }
    for (const Tuple& tuple : tuples) {
      accepted.add(std::min(tuple.probability, mass_inside(q, tuple.tokens & ~subset)));
    }
    least = std::min(least, accepted.value());
  }
  return least;
}

double drafted_bound(const DraftDistributions& p, const Distribution& q) {
  Sum accepted;
  for (std::size_t i = 0; i < q.size(); ++i)
    accepted.add(std::min(q.probabilities()[i], drafted(p, q.token(i))));
  return std::min(1.0, accepted.value());
}

double guaranteed_share(const Distribution& p, const Distribution& q, std::size_t k) {
  SPECTR_CHECK(k >= 1);
  const DistributionPair distributions(p, q);
  const auto n = static_cast<double>(k);
  Sum overlap;
  for (std::size_t j = 0; j < distributions.size(); ++j)
    overlap.add(std::min(distributions.p()[j], distributions.q()[j] / n));
  const double beta = std::min(1.0, overlap.value());
  if (beta == 0.0) return 1.0;
  return -std::expm1(n * std::log1p(-beta)) / (n * beta);
}

double bernoulli_acceptance(double p, double q, std::size_t k) {
  const auto n = static_cast<double>(k);
  return std::min(q, 1.0 - std::pow(1.0 - p, n)) + std::min(1.0 - q, 1.0 - std::pow(p, n));
}

double guaranteed_share(std::size_t k) {
  SPECTR_CHECK(k >= 1);
  const double n = static_cast<double>(k);
  return 1.0 - std::pow(1.0 - 1.0 / n, n);
}

double uniform_acceptance(double r, std::size_t k) {
  SPECTR_CHECK(r >= 1.0);
  return 1.0 - std::pow(1.0 - 1.0 / r, static_cast<double>(k));
}

double uniform_acceptance_without_replacement(std::size_t d, std::size_t n, std::size_t k) {
  SPECTR_CHECK(n <= d && k <= d);
  double missed = 1.0;  // probability that no draft is among the n: (d−n)/d · (d−n−1)/(d−1) · …
  for (std::size_t i = 0; i < k && missed > 0.0; ++i) {
    missed *= static_cast<double>(d - std::min(d, n + i)) / static_cast<double>(d - i);
  }
  return 1.0 - missed;
}

}  // namespace spectr
