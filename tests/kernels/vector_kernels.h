#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <span>

#include "tests/support/every_target.h"

namespace spectr {

/// |x[j] − y[j]| ≤ bound · (1 + |y[j]|).
inline void expect_close(std::span<const float> x, std::span<const float> y, double bound) {
  ASSERT_EQ(x.size(), y.size());
  for (std::size_t j = 0; j < x.size(); ++j) {
    ASSERT_LE(std::abs(double{x[j]} - y[j]), bound * (1 + std::abs(double{y[j]})))
        << "at " << j << " of " << x.size();
  }
}

}  // namespace spectr
