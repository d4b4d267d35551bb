#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "spectr/base/check.h"

namespace spectr {

/// Number `at`, from 0 on, of the numbers in ascending order.
/// Requires: at < numbers.size().
inline double nth_smallest(std::vector<double> numbers, std::size_t at) {
  SPECTR_CHECK(at < numbers.size());
  const auto place = numbers.begin() + static_cast<std::ptrdiff_t>(at);
  std::ranges::nth_element(numbers, place);
  return *place;
}

/// The number in the middle, the higher one of two. Requires: at least one number.
inline double median(std::vector<double> numbers) {
  const std::size_t middle = numbers.size() / 2;
  return nth_smallest(std::move(numbers), middle);
}

/// The number that a quarter of the others is below. Requires: at least one number.
inline double lower_quartile(std::vector<double> numbers) {
  const std::size_t quarter = numbers.size() / 4;
  return nth_smallest(std::move(numbers), quarter);
}

}  // namespace spectr
