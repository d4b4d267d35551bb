#include "lab/theory/rejections.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lab/simulate.h"

namespace spectr::lab {
namespace {

MarkovPair golden() {
  return MarkovPair::random(7, 50, 10);
}

TEST(Rejections, MatchTheGoldenValues) {
  EXPECT_NEAR(total(expected_rejections(golden())), 16.4049, 5e-5);
  EXPECT_NEAR(total(expected_batch_rejections(golden(), 1)), 16.4049, 5e-5);
  EXPECT_NEAR(total(expected_batch_rejections(golden(), 4)), 14.0901, 5e-5);
  EXPECT_NEAR(total(expected_batch_rejections(golden(), 5)), 13.8684, 5e-5);
}

TEST(Rejections, OfABatchOfOneAreThoseOfSpeculativeDecoding) {
  const auto one = expected_batch_rejections(golden(), 1), plain = expected_rejections(golden());
  for (std::size_t n = 0; n < one.size(); ++n) EXPECT_NEAR(one[n], plain[n], 1e-14);
}

TEST(Rejections, FallWithTheBatchTowardsAPositiveLimit) {
  const double limit = total(expected_batch_rejections_in_the_limit(golden()));
  double before = total(expected_batch_rejections(golden(), 1));
  for (std::size_t M = 2; M <= 64; M *= 2) {
    const double now = total(expected_batch_rejections(golden(), M));
    EXPECT_LT(now, before);
    EXPECT_GT(now, limit);
    before = now;
  }
  EXPECT_NEAR(total(expected_batch_rejections(golden(), 3000)), limit, 5e-3);
  EXPECT_GT(limit, 12.0);
}

// Yin et al., proposition 1: restarts of a tree of drafts are a subset of the ways to emit a token.
TEST(Rejections, OfABatchAreAPartOfTheTargetsMassOfEveryToken) {
  for (const unsigned seed : {1u, 2u, 10u}) {
    const MarkovPair pair = MarkovPair::random(5, 12, seed);
    for (const std::size_t M : {1, 2, 3, 8, 64}) {
      const auto masses = batch_rejection_masses(pair, M);
      const auto terms = expected_batch_rejections(pair, M);
      std::vector<double> mu(5, 0.2);
      for (std::size_t n = 0; n < 12; ++n) {
        std::vector<double> next(5, 0.0);
        for (std::size_t x = 0; x < 5; ++x) {
          for (std::size_t y = 0; y < 5; ++y) next[y] += mu[x] * pair.q(n, x)[y];
        }
        mu = next;
        double sum = 0.0;
        for (std::size_t y = 0; y < 5; ++y) {
          EXPECT_GE(masses[n][y], 0.0);
          EXPECT_LE(masses[n][y], mu[y] + 1e-15);
          sum += masses[n][y];
        }
        EXPECT_NEAR(sum, terms[n], 1e-15);
      }
    }
  }
}

TEST(Rejections, VanishInTheLimitAtASingleToken) {
  EXPECT_EQ(total(expected_batch_rejections_in_the_limit(MarkovPair::random(5, 1, 3))), 0.0);
}

TEST(Rejections, OfIdenticalModelsAreNone) {
  const MarkovPair one = MarkovPair::random(3, 4, 1);
  std::vector<double> rows;
  for (std::size_t n = 0; n < 4; ++n) {
    for (std::size_t x = 0; x < 3; ++x) rows.insert(rows.end(), one.q(n, x).begin(), one.q(n, x).end());
  }
  const MarkovPair same(3, 4, rows, rows);
  EXPECT_EQ(total(expected_rejections(same)), 0.0);
  EXPECT_EQ(total(expected_batch_rejections(same, 3)), 0.0);
  EXPECT_EQ(expected_calls(expected_rejections(same)), 1.0);
}

/// T = 1 on one distribution: the forward pass agrees with the closed form of a single token.
TEST(BatchImprovement, IsWhatTheForwardPassSaysOfOneToken) {
  const auto saved = [](const std::vector<double>& p, const std::vector<double>& q, std::size_t M) {
    std::vector<double> P, Q;
    for (std::size_t x = 0; x < p.size(); ++x) {
      P.insert(P.end(), p.begin(), p.end());
      Q.insert(Q.end(), q.begin(), q.end());
    }
    const MarkovPair pair(p.size(), 1, P, Q);
    return total(expected_rejections(pair)) - total(expected_batch_rejections(pair, M));
  };
  for (std::size_t M = 1; M <= 6; ++M) {
    EXPECT_NEAR(saved({0.25, 0.75}, {0.6, 0.4}, M), bernoulli_batch_improvement(0.75, 0.4, M), 1e-14);
    EXPECT_NEAR(saved({0.75, 0.25}, {0.4, 0.6}, M), bernoulli_batch_improvement(0.25, 0.6, M), 1e-14);
    EXPECT_NEAR(saved({0.25, 0.25, 0.25, 0.25}, {0.5, 0.5, 0, 0}, M), uniform_batch_improvement(2, M), 1e-14);
  }
}

/// The bands are five measured standard errors around the exact value: false-alarm rate below 1e-6.
TEST(Simulation, StaysWithinItsBands) {
  const MarkovPair pair = MarkovPair::random(5, 12, 4);
  for (const std::size_t M : {1, 3}) {
    Average average;
    ASSERT_TRUE(simulate_rejections(pair, M, 2000, 7, [&](std::size_t, double r) { average.add(r); }));
    const double standard_error = average.band() / 1.96;
    EXPECT_NEAR(average.mean(), total(expected_batch_rejections(pair, M)), 5.0 * standard_error);
    EXPECT_LT(standard_error, 0.05);
  }
}

TEST(Simulation, DependsOnTheSeedAlone) {
  const MarkovPair pair = MarkovPair::random(4, 6, 1);
  const auto run = [&](std::uint64_t seed) {
    std::vector<double> all;
    EXPECT_TRUE(simulate_rejections(pair, 2, 50, seed, [&](std::size_t, double r) { all.push_back(r); }));
    return all;
  };
  EXPECT_EQ(run(3), run(3));
  EXPECT_NE(run(3), run(4));
}

TEST(Average, IsThatOfTheTextbook) {
  Average average;
  for (const double value : {2.0, 4.0, 4.0, 6.0}) average.add(value);
  EXPECT_DOUBLE_EQ(average.mean(), 4.0);
  EXPECT_DOUBLE_EQ(average.band(), 1.96 * std::sqrt(8.0 / 3.0 / 4.0));
}

}  // namespace
}  // namespace spectr::lab
