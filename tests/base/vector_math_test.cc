#include "spectr/base/vector_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "tests/support/every_target.h"
#include "tests/support/scalar_ops.h"
#include "tests/support/vectors.h"

namespace spectr {
namespace {

using test::at_every_length_and_offset;
using test::for_long_vectors;
using test::Vectors;

TEST(Largest, IsTheLargestAndToldApartFromWhatIsNoNumber) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  at_every_target([&] {
    at_every_length_and_offset([&](std::size_t n, std::size_t offset) {
      Vectors x(n, offset, 1);
      EXPECT_EQ(largest(x.view), scalar::largest(x.view));
      for (const std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
        const float was = x.view[at];
        x.view[at] = -infinity;
        EXPECT_EQ(largest(x.view), scalar::largest(x.view));
        for (const float strange : {infinity, std::numeric_limits<float>::quiet_NaN()}) {
          x.view[at] = strange;
          EXPECT_TRUE(std::isnan(scalar::largest(x.view)));
          EXPECT_TRUE(std::isnan(largest(x.view))) << at << " of " << n;
        }
        x.view[at] = was;
      }
    });
  });
}

TEST(NextAbove, AgreesWithItsTwinFromEveryPlace) {
  at_every_target([] {
    at_every_length_and_offset([](std::size_t n, std::size_t offset) {
      const Vectors x(n, offset, 1);
      const float bar = x.view[n / 2];
      for (std::size_t from = 0; from <= n; ++from)
        ASSERT_EQ(next_above(x.view, from, bar), scalar::next_above(x.view, from, bar))
            << from << " of " << n;
    });
  });
}

/// Expects `found` to be within four units in the last place of `expected`.
void expect_within_four_steps(double found, double expected) {
  const double step = std::nextafter(expected, std::numeric_limits<double>::infinity()) - expected;
  EXPECT_LE(std::abs(found - expected), 4 * step) << found << ", expected " << expected;
}

TEST(ExpDifferences, AgreesWithItsTwinAndGivesNothingToMinusInfinity) {
  at_every_target([] {
    for (std::size_t n = 1; n < 70; ++n) {
      std::vector<double> x(n), expected;
      for (std::size_t j = 0; j < n; ++j) x[j] = 3.0 - 0.37 * static_cast<double>((j * j) % 97);
      if (n > 3) x[3] = -std::numeric_limits<double>::infinity();
      if (n > 5) x[5] = -1e9;
      expected = x;
      exp_differences(x, 3.0, 1.25);
      scalar::exp_differences(expected, 3.0, 1.25);
      for (std::size_t j = 0; j < n; ++j) expect_within_four_steps(x[j], expected[j]);
    }
  });
}

TEST(ExpDifferences, OfFloatsAreThoseOfTheSameNumbersAndSumToWhatIsGiven) {
  at_every_target([] {
    for (std::size_t n = 1; n < 70; ++n) {
      std::vector<float> x(n);
      for (std::size_t j = 0; j < n; ++j) x[j] = 3.0f - 0.37f * static_cast<float>((j * j) % 97);
      std::vector<double> expected(x.begin(), x.end()), found(n);
      const double total = exp_differences(expected, 3.0, 1.25);
      EXPECT_EQ(exp_differences(std::span<const float>(x), 3.0, 1.25, found), total);
      EXPECT_EQ(found, expected);
      EXPECT_NEAR(total, std::accumulate(found.begin(), found.end(), 0.0),
                  1e-15 * total * static_cast<double>(n));
    }
  });
}

TEST(ExpDifferences, AreNormalNumbersOrNothing) {
  at_every_target([] {
    for (const double normal : {-707.0, -708.0, -708.2, -708.39, -708.3964}) {
      for (std::size_t n = 1; n < 9; ++n) {
        std::vector<double> x(n, normal);
        exp_differences(x, 0.0, 1.0);
        for (const double found : x) expect_within_four_steps(found, std::exp(normal));
      }
    }
    for (const double less : {-708.3965, -708.5, -746.0, -1e300}) {
      for (std::size_t n = 1; n < 9; ++n) {
        std::vector<double> x(n, less);
        exp_differences(x, 0.0, 1.0);
        EXPECT_EQ(x, std::vector<double>(n, 0.0)) << less;
      }
    }
  });
}

TEST(LogSumExp, AgreesWithItsTwin) {
  at_every_target([] {
    at_every_length_and_offset([](std::size_t n, std::size_t offset) {
      Vectors x(n, offset, 1);
      for (std::size_t j = 0; j < n; j += 5) x.view[j] *= 20.0f;
      EXPECT_NEAR(log_sum_exp(x.view), scalar::log_sum_exp(x.view), 3e-6);
      if (n > 1) x.view[0] = -std::numeric_limits<float>::infinity();
      EXPECT_NEAR(log_sum_exp(x.view), scalar::log_sum_exp(x.view), 3e-6);
    });
  });
}

TEST(LogSumExp, AgreesWithItsTwinForLongVectors) {
  for_long_vectors([](const std::vector<float>& x) {
    const double expected = scalar::log_sum_exp(x);
    at_every_target([&] { EXPECT_NEAR(log_sum_exp(x), expected, 3e-6); });
  });
}

TEST(LogSumExp, IsNaNWhereAnEntryIsNaNOrInfinite) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  at_every_target([] {
    for (const std::size_t n : {1, 7, 37}) {
      for (const float wrong : {NAN, infinity}) {
        for (std::size_t at = 0; at < n; ++at) {
          std::vector<float> x(n, 0.5f);
          x[at] = wrong;
          EXPECT_TRUE(std::isnan(log_sum_exp(x))) << wrong << " at " << at << " of " << n;
        }
      }
    }
  });
}

}  // namespace
}  // namespace spectr
