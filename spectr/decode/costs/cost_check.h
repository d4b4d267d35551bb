#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "spectr/base/numeric.h"

namespace spectr {

/// Checks that blocks take as long as the costs of an automatic choice predict. The costs may have been
/// measured while the machine was busy, or at another clock frequency.
class CostCheck {
 public:
  /// Minimum number of blocks for a result.
  static constexpr std::size_t min_blocks = 32;
  /// Maximum ratio between measured and modelled times.
  static constexpr double tolerance = 1.25;

  /// Records the measured and the modelled seconds of a block.
  void add(double seconds, double charged) {
    if (seconds > 0.0 && charged > 0.0) ratios_.push_back(seconds / charged);
  }

  /// Returns the ratio of measured to modelled times if it lies outside the tolerance and there were
  /// enough blocks. It is a lower quartile, so that occasional disturbances of the machine do not
  /// count.
  std::optional<double> off() const {
    if (ratios_.size() < min_blocks) return std::nullopt;
    const double ratio = lower_quartile(ratios_);
    if (ratio <= tolerance && ratio >= 1.0 / tolerance) return std::nullopt;
    return ratio;
  }

 private:
  std::vector<double> ratios_;
};

}  // namespace spectr
