#include "spectr/transport/math/powers.h"

#include <gtest/gtest.h>

namespace spectr {
namespace {

// Computes (a + w)^k − a^k by the binomial theorem in long double; all terms are positive.
long double reference(long double a, long double w, std::size_t k) {
  long double sum = 0.0L, binomial = 1.0L;
  for (std::size_t i = 1; i <= k; ++i) {
    binomial = binomial * static_cast<long double>(k - i + 1) / static_cast<long double>(i);
    sum += binomial * std::pow(w, static_cast<long double>(i)) * std::pow(a, static_cast<long double>(k - i));
  }
  return sum;
}

TEST(Powers, DifferenceIsAccurateForNarrowAndWideWindows) {
  for (const double a : {0.0, 1e-5, 0.3, 0.999}) {
    for (const double w : {1e-300, 1e-20, 1e-9, 0.1, 0.7}) {
      for (const std::size_t k : {1u, 2u, 3u, 5u, 8u, 13u, 64u}) {
        const double expected = static_cast<double>(reference(a, w, k));
        const double bound = 2e-16 * (4.0 * static_cast<double>(k) + 4.0) * expected;
        EXPECT_NEAR(power_difference(a, w, k), expected, bound) << a << ' ' << w << ' ' << k;
      }
    }
  }
}

TEST(Powers, DifferencesOfAFewQuantaAreTheNearestNumbers) {
  for (const double a : {0.01, 0.3, 0.5, 0.7, 0.999}) {
    for (const double quanta : {1.0, 2.0, 3.0, 40.0}) {
      for (const std::size_t k : {2u, 3u, 5u, 8u, 64u}) {
        const double n = static_cast<double>(k);
        EXPECT_EQ(power_difference(a, quanta * 5e-324, k),
                  std::nearbyint(quanta * n * std::pow(a, n - 1.0)) * 5e-324)
            << a << ' ' << quanta << ' ' << k;
      }
    }
  }
}

TEST(Powers, WidthInvertsTheDifference) {
  for (const double a : {0.0, 1e-3, 0.3, 0.9}) {
    for (const double w : {1e-12, 1e-3, 0.5}) {
      for (const std::size_t k : {1u, 2u, 3u, 8u, 16u}) {
        EXPECT_NEAR(power_width(a, power_difference(a, w, k), k), w, 1e-12 * w + 4e-16 * a)
            << a << ' ' << w << ' ' << k;
      }
    }
  }
}

TEST(Powers, PowerZeroIsOne) {
  EXPECT_EQ(power(0.0, 0), 1.0);
  EXPECT_EQ(power(0.5, 3), 0.125);
  EXPECT_EQ(power_difference(0.5, 0.25, 0), 0.0);
}

}  // namespace
}  // namespace spectr
