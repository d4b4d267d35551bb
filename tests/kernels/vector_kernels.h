#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstdint>
#include <span>

namespace spectr {

/// Runs `claim` for every instruction set that Highway has on this machine.
template <class Claim>
void at_every_target(const Claim& claim) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    claim();
  }
  hwy::SetSupportedTargetsForTest(0);
}

/// |x[j] − y[j]| ≤ bound · (1 + |y[j]|).
inline void expect_close(std::span<const float> x, std::span<const float> y, double bound) {
  ASSERT_EQ(x.size(), y.size());
  for (std::size_t j = 0; j < x.size(); ++j) {
    ASSERT_LE(std::abs(double{x[j]} - y[j]), bound * (1 + std::abs(double{y[j]})))
        << "at " << j << " of " << x.size();
  }
}

}  // namespace spectr
