#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace spectr {

/// A histogram with upper bounds, and the sum of the values that were added.
template <std::size_t ranges>
class Histogram {
 public:
  using Bounds = std::array<double, ranges>;

  /// Requires: ascending bounds. Values above the last bound are counted only in the sum and in all().
  constexpr explicit Histogram(const Bounds& bounds) : bounds_(bounds) {}

  void add(double number) {
    const auto at = std::ranges::lower_bound(bounds_, number) - bounds_.begin();
    if (at < static_cast<std::ptrdiff_t>(ranges)) ++counts_[static_cast<std::size_t>(at)];
    ++all_;
    sum_ += number;
  }

  const Bounds& bounds() const { return bounds_; }
  /// Returns the number of values ≤ bounds()[i].
  std::uint64_t up_to(std::size_t i) const {
    std::uint64_t count = 0;
    for (std::size_t j = 0; j <= i; ++j) count += counts_[j];
    return count;
  }
  std::uint64_t all() const { return all_; }
  double sum() const { return sum_; }

 private:
  Bounds bounds_;
  std::array<std::uint64_t, ranges> counts_ = {};
  std::uint64_t all_ = 0;
  double sum_ = 0.0;
};

}  // namespace spectr
