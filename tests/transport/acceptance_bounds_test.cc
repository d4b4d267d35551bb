#include "spectr/transport/acceptance_bounds.h"

#include <gtest/gtest.h>

#include <bit>

#include "spectr/transport/recursive_without_replacement.h"
#include "spectr/transport/rejected_without_replacement.h"
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

// P(all of k different drafts lie in S), by recursion over the sequences.
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

TEST(AcceptanceBounds, BoundPlansWithoutReplacementToo) {
  RandomDistributions random(6);
  for (int n = 0; n < 60; ++n) {
    const Distribution p = random.dense(4), q = random.any(4);
    const auto plan = build_recursive_wor({p, 1 + random.below(3)}, q, {}).value();
    const double optimum = optimal_acceptance_by_subsets(
        q, [&](std::uint32_t subset) { return all_inside(p, subset, plan->drafts()); });
    EXPECT_LE(plan->acceptance(), optimum + 1e-12);
  }
}

}  // namespace
}  // namespace spectr
