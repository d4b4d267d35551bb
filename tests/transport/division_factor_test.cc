#include "spectr/transport/math/division_factor.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/transport/distributions.h"

namespace spectr {
namespace {

using namespace test;

// Computes the smallest ρ with (1 − ρβ) ≤ (1 − β)^k by bisection in long double, from the definition.
double reference_factor(const DistributionPair& distributions, std::size_t k) {
  const auto valid = [&](long double rho) {
    long double beta = 0, miss = 0, unserved = 0;
    for (std::size_t j = 0; j < distributions.size(); ++j) {
      const long double p = distributions.p()[j], q = distributions.q()[j];
      beta += std::min(p, q / rho);
      miss += std::max(p - q / rho, 0.0L);
      unserved += std::max(q - rho * p, 0.0L);
    }
    const auto n = static_cast<long double>(k);
    if (beta > 0.5L) return unserved <= std::pow(miss, n);
    return -std::expm1(n * std::log1p(-beta)) <= rho * beta;
  };
  if (valid(1)) return 1;
  long double below = 1, above = static_cast<long double>(k);
  for (int n = 0; n < 100; ++n) {
    const long double middle = (below + above) / 2;
    (valid(middle) ? above : below) = middle;
  }
  return static_cast<double>(above);
}

TEST(DivisionFactor, MatchesBisection) {
  RandomDistributions random(7);
  int compared = 0;
  for (int n = 0; n < 2000; ++n) {
    const std::size_t vocabulary = 2 + random.below(40), k = 2 + random.below(63);
    const Distribution p = random.any(vocabulary), q = random.any(vocabulary);
    const DistributionPair distributions(p, q);
    const Division found = division_factor(distributions, k);
    EXPECT_LE(found.passes, 13);
    const double rho = reference_factor(distributions, k);
    const auto rejected = [k](Overlap o) { return std::exp(static_cast<double>(k) * log_miss(o)); };
    EXPECT_NEAR(rejected(found.overlaps[0]), rejected(overlap(distributions.p(), distributions.q(), rho)),
                1e-13);
    // If hardly anything is rejected, or nothing accepted, a range of ρ is valid up to rounding.
    if (rejected(found.overlaps[0]) < 1e-3 || found.overlaps[0].beta == 0.0) continue;
    EXPECT_NEAR(found.rho, rho, 1e-11 * rho);
    ++compared;
  }
  EXPECT_GT(compared, 500);
}

// For nearly equal distributions, far larger factors also reject hardly anything.
TEST(DivisionFactor, IsTheSmallestWhereNextToNothingIsRejected) {
  const Distribution p =
      distribution({0.01742151604400102, 0.44979583219828767, 0.3758345953730141, 0.15694805638469736});
  const Distribution q =
      distribution({0.017421532508590284, 0.4497962570134686, 0.3758341672865974, 0.1569480431913437});
  EXPECT_NEAR(division_factor(DistributionPair(p, q), 25).rho, 1.00000094507, 1e-11);
}

TEST(DivisionFactor, TakesAtMostElevenPassesOverALargeVocabulary) {
  RandomDistributions random(8);
  for (std::size_t k : {2, 4, 8, 16}) {
    for (int n = 0; n < 4; ++n) {
      const Distribution p = random.dense(32'000), q = random.dense(32'000);
      EXPECT_LE(division_factor(DistributionPair(p, q), k).passes, 11);
    }
  }
}

// The worst known case: tokens with geometric masses and ratios, so that β(s) has a kink at every scale.
TEST(DivisionFactor, TakesFewPassesThroughManyKinks) {
  for (std::size_t k : {2, 8, 64}) {
    for (double fall : {0.99, 0.9, 0.5, 0.1}) {
      std::vector<double> p, q;
      for (int i = 0; i < 300; ++i) {
        p.push_back(std::pow(fall, i));
        q.push_back(p.back() * (1.0 + static_cast<double>(k - 1) * std::pow(0.95, 300 - i)));
      }
      const Distribution a = distribution(p), b = distribution(q);
      EXPECT_LE(division_factor(DistributionPair(a, b), k).passes, 16);
      EXPECT_LE(division_factor(DistributionPair(b, a), k).passes, 16);
    }
  }
}

TEST(DivisionFactor, IsOneForOneDraftAndForEqualDistributions) {
  RandomDistributions random(9);
  for (int n = 0; n < 50; ++n) {
    const Distribution p = random.any(7), q = random.any(7);
    EXPECT_EQ(division_factor(DistributionPair(p, q), 1).rho, 1.0);
    for (std::size_t k : {2, 5, 64}) EXPECT_EQ(division_factor(DistributionPair(p, p), k).rho, 1.0);
  }
}

TEST(DivisionFactor, IsKForDisjointSupports) {
  const Distribution p = distribution({1, 0, 0}), q = distribution({0, 0.5, 0.5});
  for (std::size_t k : {2, 3, 64}) {
    EXPECT_NEAR(division_factor(DistributionPair(p, q), k).rho, static_cast<double>(k),
                1e-12 * static_cast<double>(k));
  }
}

TEST(DivisionFactor, OfSeveralEqualDistributionsIsThatOfOneDistribution) {
  RandomDistributions random(10);
  for (int n = 0; n < 200; ++n) {
    const std::size_t vocabulary = 2 + random.below(6), k = 1 + random.below(5);
    const Distribution p = random.any(vocabulary), q = random.any(vocabulary);
    const Division one = division_factor(DistributionPair(p, q), k),
                   many = division_factor(DistributionUnion({p, k}, q));
    const double rejected_one = std::exp(static_cast<double>(k) * log_miss(one.overlaps[0]));
    double rejected_many = 1.0;
    for (const Overlap& o : many.overlaps) rejected_many *= o.miss;
    EXPECT_NEAR(rejected_one, rejected_many, 1e-12);
  }
}

// For different distributions, the valid factors need not form an interval, and Σ R_i ≤ ρ is only sufficient:
// here it would give ρ = 2 and acceptance ½.
TEST(DivisionFactor, OfSeveralDistributionsIsTheSmallestValidOne) {
  const std::vector<Distribution> p = {distribution({0.501, 0.499, 0, 0}), Distribution::point(2, 4),
                                       Distribution::point(3, 4)};
  const Distribution q = distribution({0.5, 0.5, 0, 0});
  const Division found = division_factor(DistributionUnion(several(p), q));
  EXPECT_EQ(found.rho, 1.0);
  EXPECT_NEAR(found.overlaps[0].beta, 0.999, 1e-15);
}

// Scans a fine grid of ρ from below: the first valid point is the result by definition.
TEST(DivisionFactor, OfSeveralDistributionsMatchesAScan) {
  RandomDistributions random(11);
  const auto use = [](const DistributionUnion& distributions, double rho) {
    double most = 0.0;
    for (std::size_t j = 0; j < distributions.size(); ++j) {
      if (distributions.q()[j] == 0.0) continue;
      double reached = 1.0, sum = 0.0;
      for (std::size_t i = 0; i < distributions.drafts(); ++i) {
        double beta = 0.0;
        for (std::size_t l = 0; l < distributions.size(); ++l)
          beta += std::min(distributions.p(i)[l], distributions.q()[l] / rho);
        sum += reached * std::min(distributions.p(i)[j] / distributions.q()[j] * rho, 1.0);
        reached *= 1.0 - beta;
      }
      most = std::max(most, sum);
    }
    return most;
  };
  for (int n = 0; n < 60; ++n) {
    const std::size_t vocabulary = 2 + random.below(5), k = 2 + random.below(3);
    std::vector<Distribution> p;
    while (p.size() < k) p.push_back(random.any(vocabulary));
    const Distribution q = random.any(vocabulary);
    const DistributionUnion distributions(several(p), q);
    const double found = division_factor(distributions).rho, step = static_cast<double>(k - 1) / 2000.0;
    EXPECT_LE(use(distributions, found), found * (1 + 1e-14));
    for (double rho = 1.0; rho < found - step; rho += step)
      EXPECT_GT(use(distributions, rho), rho * (1 - 1e-9)) << found;
  }
}

TEST(DivisionFactor, OfSeveralDistributionsTakesAHandfulOfPasses) {
  RandomDistributions random(19);
  const auto unequal = [&](std::size_t vocabulary) {
    std::vector<double> masses(vocabulary);
    for (double& w : masses) w = std::exp(-60.0 * random.uniform());
    return distribution(std::move(masses));
  };
  int passes = 0, most = 0;
  constexpr int instances = 600;
  for (int n = 0; n < instances; ++n) {
    const std::size_t vocabulary = 2 + random.below(40), k = 2 + random.below(8);
    const auto draw = [&] { return n % 3 == 0 ? unequal(vocabulary) : random.any(vocabulary); };
    std::vector<Distribution> p;
    while (p.size() < k) p.push_back(draw());
    const Distribution q = draw();
    const int taken = division_factor(DistributionUnion(several(p), q)).passes;
    passes += taken;
    most = std::max(most, taken);
  }
  EXPECT_LE(passes, 5 * instances);
  EXPECT_LE(most, 60);
}

TEST(Overlap, KeepsItsDigitsAtBothEnds) {
  const std::vector<double> p = {1e-300, 1.0}, q = {1.0, 0.0};
  const Overlap tiny = overlap(p, q, 1.0);
  EXPECT_EQ(tiny.beta, 1e-300);
  EXPECT_EQ(accepted_per_test(tiny, 5), 5.0);
  const std::vector<double> r = {1.0, 1e-300};
  const Overlap full = overlap(r, std::vector{1.0, 0.0}, 1.0);
  EXPECT_EQ(full.miss, 1e-300);
  EXPECT_EQ(accepted_per_test(full, 5), 1.0);
}

}  // namespace
}  // namespace spectr
