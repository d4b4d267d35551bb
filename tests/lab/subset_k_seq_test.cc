#include "lab/theory/subset_k_seq.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "lab/distributions.h"
#include "spectr/transport/acceptance_bounds.h"

namespace spectr::lab {
namespace {

TEST(SubsetKSeq, FindsTheFactorsOfTheBernoulliExample) {
  const Distribution p = bernoulli(0.5), q = bernoulli(0.75);
  const std::uint32_t sets[] = {0b01, 0b01};  // Ω = {0}, the only token with p > q
  EXPECT_NEAR(min_rejection(p, q, sets).value(), 0.0, 1e-12);
}

/// No factors fit these sets, but so narrowly that the solver reports a numerical error.
TEST(SubsetKSeq, RejectsEverythingWhereNoFactorsFitTheSets) {
  std::mt19937 generator(10);
  for (int i = 0; i < 28; ++i)
    (void)random_distribution(10, generator), (void)random_distribution(10, generator);
  const Distribution p = random_distribution(10, generator), q = random_distribution(10, generator);
  std::vector<Token> order(10);
  std::iota(order.begin(), order.end(), Token{0});
  std::ranges::sort(order, {}, [&](Token x) { return p[x] / q[x]; });
  std::uint32_t sets[] = {0x3FF, 0x3FF};
  for (std::size_t i = 0; i < 8; ++i) sets[1] &= ~(1U << order[i]);
  for (std::size_t i = 0; i < 5; ++i) sets[0] &= ~(1U << order[i]);
  const auto min = min_rejection(p, q, sets);
  ASSERT_TRUE(min.has_value()) << min.error().message;
  EXPECT_EQ(*min, 1.0);
}

TEST(SubsetKSeq, OfOneDraftIsMaximalCoupling) {
  std::mt19937 generator(3);
  for (int i = 0; i < 10; ++i) {
    const Distribution p = random_distribution(5, generator), q = random_distribution(5, generator);
    EXPECT_NEAR(min_rejection_of_prefixes(p, q, 1, 0.0).value(), total_variation(p, q), 1e-10);
  }
}

TEST(SubsetKSeq, OfPrefixesLiesBetweenStrPlusPlusAndTheOptimum) {
  std::mt19937 generator(4);
  for (int i = 0; i < 10; ++i) {
    const Distribution p = random_distribution(5, generator), q = random_distribution(5, generator);
    for (std::size_t k = 2; k <= 4; ++k) {
      const double optimum = 1.0 - optimal_acceptance(p, q, k);
      const double best = min_rejection_of_prefixes(p, q, k, optimum).value();
      EXPECT_GE(best, optimum - 1e-10);
      EXPECT_LE(best, 1.0 - acceptance("str++", p, q, k).value() + 1e-10);
    }
  }
}

/// Prefixes are best for most pairs of distributions, but not for all.
TEST(SubsetKSeq, OfPrefixesIsNotAlwaysTheBestOfAllPairsOfSubsets) {
  const auto p = Distribution::from_weights({0.414, 0.363, 0.223}),
             q = Distribution::from_weights({0.478, 0.134, 0.388});
  const std::uint32_t sets[] = {0b010, 0b001};  // p/q is largest at 1, and larger at 0 than at 2
  const double best = min_rejection_of_subsets(p, q, 2).value();
  EXPECT_NEAR(min_rejection(p, q, sets).value(), best, 1e-9);
  EXPECT_GT(min_rejection_of_prefixes(p, q, 2, 0.0).value(), best + 0.001);
}

TEST(SubsetKSeq, OfPrefixesIsTheBestOfAllPairsOfSubsetsOnMostPairs) {
  std::mt19937 generator(5);
  for (int i = 0; i < 8; ++i) {
    const Distribution p = random_distribution(5, generator), q = random_distribution(5, generator);
    EXPECT_NEAR(min_rejection_of_prefixes(p, q, 2, 0.0).value(), min_rejection_of_subsets(p, q, 2).value(),
                1e-9);
  }
}

}  // namespace
}  // namespace spectr::lab
