#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "spectr/base/numeric.h"

namespace spectr {

/// Whether blocks take as long as the costs say that an automatic choice goes by. These may have been
/// measured while the machine was busy, or for a clock that is another one now.
class CostCheck {
 public:
  /// So many blocks tell.
  static constexpr std::size_t min_blocks = 32;
  /// By this factor they may be off.
  static constexpr double tolerance = 1.25;

  /// A block took so many seconds, and so many by the costs.
  void add(double seconds, double charged) {
    if (seconds > 0.0 && charged > 0.0) ratios_.push_back(seconds / charged);
  }

  /// How many times as long blocks take as the costs say, where that is more than the tolerance or less than
  /// its inverse, and there were enough. It is a lower quartile: what disturbs a machine now and then does
  /// not count.
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
