#include "spectr/transport/math/overlap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/support/every_target.h"

namespace spectr {
namespace {

/// Returns weights over many orders of magnitude, with some zeros; they need not sum to 1.
std::vector<double> weights(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> w(n);
  for (double& x : w) x = random() % 8 == 0 ? 0.0 : std::exp(5.0 * normal(random));
  return w;
}

constexpr std::size_t sizes[] = {0, 1, 2, 7, 8, 9, 31, 1023, 1024, 1025, 2055, 5000};

TEST(OverlapSums, AgreeWithSumsOfOneTermAfterTheOther) {
  at_every_target([] {
    for (const std::size_t n : sizes) {
      const std::vector<double> p = weights(n, 1), q = weights(n, 2);
      for (const double s : {1.0, 0.7, 0.125}) {
        long double saturated = 0, open = 0, miss = 0, unserved = 0;
        for (std::size_t i = 0; i < n; ++i) {
          const double gap = p[i] - s * q[i];  // as in the code, this is decided in double precision
          (gap > 0.0 ? open : saturated) += gap > 0.0 ? q[i] : p[i];
          (gap > 0.0 ? miss : unserved) += std::abs(static_cast<long double>(gap));
        }
        const OverlapSums sums = overlap_sums(p, q, s);
        const auto expect_equal = [n](double found, long double expected) {
          EXPECT_NEAR(found, static_cast<double>(expected), 1e-14 * static_cast<double>(expected)) << n;
        };
        expect_equal(sums.saturated, saturated);
        expect_equal(sums.open, open);
        expect_equal(sums.miss, miss);
        expect_equal(sums.unserved, unserved / s);
      }
    }
  });
}

TEST(OverlapSums, HaveTheSameBitsOnEveryInstructionSet) {
  for (const std::size_t n : sizes) {
    const std::vector<double> p = weights(n, 3), q = weights(n, 4);
    std::vector<double> first;
    at_every_target([&] {
      const OverlapSums sums = overlap_sums(p, q, 0.7);
      const std::vector<double> found = {sums.saturated, sums.open, sums.miss, sums.unserved};
      if (first.empty()) first = found;
      EXPECT_EQ(found, first) << n;
    });
  }
}

}  // namespace
}  // namespace spectr
