#include "spectr/transport/acceptance_bounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "spectr/transport/math/rejected_without_replacement.h"
#include "spectr/transport/plans/k_seq.h"
#include "spectr/transport/plans/recursive_without_replacement.h"
#include "spectr/transport/programs/tuple_lp.h"
#include "tests/transport/distributions.h"

namespace spectr {
namespace {

using namespace test;

TEST(AcceptanceBounds, PrefixesOfTheRatioOrderAreEnough) {
  RandomDistributions random(4);
  for (int n = 0; n < 300; ++n) {
    const std::size_t vocabulary = 1 + random.below(9), k = 1 + random.below(8);
    const Distribution p = random.any(vocabulary), q = random.any(vocabulary);
    EXPECT_NEAR(optimal_acceptance(p, q, k), optimal_acceptance_by_subsets({p, k}, q), 1e-14);
  }
}

TEST(AcceptanceBounds, OneDraftIsOneMinusTotalVariation) {
  RandomDistributions random(5);
  for (int n = 0; n < 100; ++n) {
    const Distribution p = random.any(6), q = random.any(6);
    EXPECT_NEAR(optimal_acceptance(p, q, 1), 1.0 - total_variation(p, q), 1e-14);
  }
}

// SpecTr, Lemma 1.
TEST(AcceptanceBounds, RiseWithEveryDraftToTheMassThatDraftsCanReach) {
  RandomDistributions random(7);
  for (int n = 0; n < 200; ++n) {
    const Distribution p = random.any(6), q = random.any(6);
    const double limit = acceptance_in_the_limit(p, q);
    double reachable = 0.0, rarest = 1.0, last = 0.0;
    for (Token x = 0; x < 6; ++x) {
      if (p[x] == 0.0) continue;
      reachable += q[x];
      rarest = std::min(rarest, p[x]);
    }
    EXPECT_NEAR(limit, reachable, 1e-15);
    for (std::size_t k = 1; k <= 32; ++k) {
      const double optimum = optimal_acceptance(p, q, k);
      EXPECT_GE(optimum, last - 1e-14);
      EXPECT_LE(optimum, limit + 1e-14);
      // Drafts that miss a token of the support have a total probability of at most V (1 − min p)^k.
      EXPECT_GE(optimum, limit - 6.0 * std::pow(1.0 - rarest, static_cast<double>(k)) - 1e-14);
      last = optimum;
    }
  }
}

// Tests both bounds of SpecTr's Lemma 3, the lower one for k-Seq; and that the upper one is attained for
// all distributions: of every form (ties, zeros, disjoint supports), from equal and from different
// drafters.
TEST(AcceptanceBounds, ByTuplesAreTheOptimumAndKSeqReachesAShareOfThem) {
  RandomDistributions random(8);
  for (int n = 0; n < 400; ++n) {
    const std::size_t vocabulary = 1 + random.below(5), k = 1 + random.below(4);
    const Distribution p = random.any(vocabulary), q = random.any(vocabulary);
    const double bound = tuple_bound({p, k}, q);
    EXPECT_NEAR(bound, optimal_acceptance(p, q, k), 1e-14);
    EXPECT_GE(build_k_seq({p, k}, q, {}).value()->acceptance(), guaranteed_share(k) * bound - 1e-14);
    std::vector<Distribution> laws;
    while (laws.size() < k) laws.push_back(random.any(vocabulary));
    EXPECT_NEAR(tuple_bound(several(laws), q), optimal_acceptance_by_subsets(several(laws), q), 1e-14);
  }
}

// The linear program of the transport problem, which does not use subsets, has the same value.
TEST(AcceptanceBounds, ByTuplesAreTheValueOfTheTransportProblem) {
  RandomDistributions random(10);
  for (int n = 0; n < 150; ++n) {
    const std::size_t vocabulary = 2 + random.below(4), k = 1 + random.below(3);
    const Distribution p = random.any(vocabulary), q = random.any(vocabulary);
    EXPECT_NEAR(build_tuple_lp({p, k}, q, {}).value()->acceptance(), tuple_bound({p, k}, q), 1e-9);
  }
}

// SpecTr, (11): α* ≤ Σ min(q, 1 − (1−p)^k) ≤ kβ(k); equality and strict inequality both occur.
TEST(AcceptanceBounds, OfTheChainAreInOrder) {
  RandomDistributions random(11);
  double first = 0.0, second = 0.0;  // the largest gaps
  for (int n = 0; n < 300; ++n) {
    const std::size_t vocabulary = 1 + random.below(8), k = 1 + random.below(6);
    const Distribution p = random.any(vocabulary), q = random.any(vocabulary);
    const double optimum = optimal_acceptance(p, q, k), drafted = drafted_bound({p, k}, q);
    double overlap = 0.0;  // kβ(k)
    for (Token x = 0; static_cast<std::size_t>(x) < vocabulary; ++x)
      overlap += std::min(q[x], static_cast<double>(k) * p[x]);
    EXPECT_LE(optimum, drafted + 1e-14);
    EXPECT_LE(drafted, overlap + 1e-14);
    if (vocabulary == 2) {
      EXPECT_NEAR(optimum, drafted, 1e-14);
    }
    first = std::max(first, drafted - optimum);
    second = std::max(second, overlap - drafted);
  }
  EXPECT_GT(first, 0.01);
  EXPECT_GT(second, 0.01);
}

// The chain acceptance ≥ 1 − (1−β)^k = c_k kβ ≥ c_k α* ≥ (1 − (1−1/k)^k) α*, as in SpecTr's appendix C.1.
TEST(AcceptanceBounds, KSeqReachesTheShareOfItsDistributions) {
  RandomDistributions random(9);
  for (int n = 0; n < 300; ++n) {
    const std::size_t vocabulary = 1 + random.below(8), k = 1 + random.below(8);
    const Distribution p = random.any(vocabulary), q = random.any(vocabulary);
    const double share = guaranteed_share(p, q, k), optimum = optimal_acceptance(p, q, k);
    EXPECT_GE(share, guaranteed_share(k) - 1e-14);
    EXPECT_LE(share, 1.0 + 1e-14);
    const double accepted = build_k_seq({p, k}, q, {}).value()->acceptance();
    EXPECT_GE(accepted, share * optimum - 1e-13);
  }
}

// SpecTr, equation 10.
TEST(AcceptanceBounds, BernoulliDistributionsHaveAClosedForm) {
  for (const double p : {0.0, 0.1, 0.25, 0.5, 0.9, 1.0}) {
    for (const double q : {0.0, 0.1, 0.25, 0.75, 1.0}) {
      for (std::size_t k = 1; k <= 8; ++k) {
        EXPECT_NEAR(bernoulli_acceptance(p, q, k),
                    optimal_acceptance(distribution({1.0 - p, p}), distribution({1.0 - q, q}), k), 1e-15);
      }
    }
  }
}

TEST(AcceptanceBounds, GuaranteeFallsTowardsOneMinusOneOverE) {
  EXPECT_EQ(guaranteed_share(1), 1.0);
  EXPECT_DOUBLE_EQ(guaranteed_share(2), 0.75);
  for (std::size_t k = 2; k < 100; ++k) EXPECT_LT(guaranteed_share(k), guaranteed_share(k - 1));
  EXPECT_NEAR(guaranteed_share(1'000'000), 1.0 - std::exp(-1.0), 1e-6);
}

TEST(AcceptanceBounds, UniformDistributionsHaveAClosedForm) {
  const Distribution p = distribution(std::vector<double>(12, 1.0));
  std::vector<double> third(12, 0.0);
  std::fill_n(third.begin(), 4, 1.0);
  const Distribution q = distribution(third);
  for (std::size_t k = 1; k <= 9; ++k) {
    EXPECT_NEAR(optimal_acceptance(p, q, k), uniform_acceptance(3.0, k), 1e-14);
    const double rejected = rejected_without_replacement(DistributionPair(p, q), k).value();
    EXPECT_NEAR(1.0 - rejected, uniform_acceptance_without_replacement(12, 4, k), 1e-14);
  }
  EXPECT_EQ(uniform_acceptance_without_replacement(12, 4, 9), 1.0);
}

// Returns P(all of k different drafts lie in S), by recursion over the sequences.
double all_inside(const Distribution& p, std::uint32_t subset, std::size_t k, std::uint32_t tried = 0) {
  if (k == 0) return 1.0;
  double rest = 0.0, sum = 0.0;
  for (Token x = 0; static_cast<std::size_t>(x) < p.vocabulary(); ++x) rest += tried >> x & 1u ? 0.0 : p[x];
  for (Token x = 0; static_cast<std::size_t>(x) < p.vocabulary(); ++x) {
    const std::uint32_t bit = 1u << x;
    if (!(subset & bit) || (tried & bit) || p[x] == 0.0) continue;
    sum += p[x] / rest * all_inside(p, subset, k - 1, tried | bit);
  }
  return sum;
}

TEST(AcceptanceBounds, BoundPlansWithoutReplacementTooAndTheProgramReachesThem) {
  RandomDistributions random(6);
  for (int n = 0; n < 60; ++n) {
    const Distribution p = random.dense(4), q = random.any(4);
    const DraftDistributions drafts(p, 1 + random.below(3));
    const auto plan = build_recursive_wor(drafts, q, {}).value();
    const auto best = build_tuple_lp_without_replacement(drafts, q, {}).value();
    EXPECT_EQ(best->drafts(), plan->drafts());
    const double optimum = optimal_acceptance_by_subsets(
        q, [&](std::uint32_t subset) { return all_inside(p, subset, plan->drafts()); });
    EXPECT_LE(plan->acceptance(), optimum + 1e-12);
    EXPECT_NEAR(best->acceptance(), optimum, 1e-10);
    EXPECT_LE(distance(enumerate_distribution(*best, 4), q), 1e-12);
  }
}

}  // namespace
}  // namespace spectr
