#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "spectr/base/check.h"

namespace spectr {

/// The number in the middle, the higher one of two. Requires: at least one number.
inline double median(std::vector<double> numbers) {
  SPECTR_CHECK(!numbers.empty());
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::ranges::nth_element(numbers, middle);
  return *middle;
}

}  // namespace spectr
