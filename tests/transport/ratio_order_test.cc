#include "spectr/transport/math/ratio_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/transport/distributions.h"

namespace spectr {
namespace {

// Short lists are sorted by comparison, long ones by radix: both must return the same order.
TEST(RatioOrder, IsAStableSortByRatioOfTheTokensThatPReaches) {
  test::RandomDistributions random(21);
  for (const std::size_t n : {0u, 1u, 2u, 100u, 511u, 512u, 3000u}) {
    std::vector<double> p(n), q(n);
    for (std::size_t i = 0; i < n; ++i) {
      p[i] = random.uniform() < 0.2 ? 0.0 : std::exp(-100.0 * random.uniform());
      q[i] = random.uniform() < 0.2 ? 0.0 : std::exp(-700.0 * random.uniform());
      if (random.uniform() < 0.3) p[i] = q[i] = 0.25;  // ties
    }
    RecycledVector<std::uint32_t> expected;
    for (std::uint32_t i = 0; i < n; ++i) {
      if (p[i] > 0.0) expected.push_back(i);
    }
    std::ranges::stable_sort(expected, {}, [&](std::uint32_t i) { return q[i] / p[i]; });
    EXPECT_EQ(ratio_order(p, q), expected) << n;
  }
}

}  // namespace
}  // namespace spectr
