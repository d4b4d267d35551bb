#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace spectr {

/// Expects |x[j] − y[j]| ≤ bound · sizes[j], plus the least normal float, below which floats lose precision.
/// If y[j] is a sum, sizes[j] must be the sum of its terms' sizes: terms may cancel, errors do not.
inline void expect_close(std::span<const float> x, std::span<const float> y, double bound,
                         std::span<const float> sizes) {
  constexpr double floor = std::numeric_limits<float>::min();
  ASSERT_EQ(x.size(), y.size());
  ASSERT_EQ(x.size(), sizes.size());
  for (std::size_t j = 0; j < x.size(); ++j) {
    ASSERT_LE(std::abs(double{x[j]} - y[j]), bound * sizes[j] + floor) << "at " << j << " of " << x.size();
  }
}

/// Expects |x[j] − y[j]| ≤ bound · |y[j]| in the same way, for results without cancellation.
inline void expect_close(std::span<const float> x, std::span<const float> y, double bound) {
  std::vector<float> sizes;
  for (const float v : y) sizes.push_back(std::abs(v));
  expect_close(x, y, bound, sizes);
}

}  // namespace spectr
