#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "spectr/base/check.h"

namespace spectr {

/// Returns a / b, or 0 if b is not positive: for rates over counts or times that can be 0.
inline double ratio(double a, double b) {
  return b > 0.0 ? a / b : 0.0;
}

/// Returns n / by, rounded up. Requires: by > 0; n + by does not overflow.
constexpr std::size_t div_up(std::size_t n, std::size_t by) {
  return (n + by - 1) / by;
}

/// Returns the smallest multiple of `by` that is ≥ n. Requires: by > 0; n + by does not overflow.
constexpr std::size_t round_up(std::size_t n, std::size_t by) {
  return div_up(n, by) * by;
}

/// A compensated sum (Neumaier). Error for n terms: 2⁻⁵³ |Σ x| and
/// (n 2⁻⁵³)² Σ |x|.
class Sum {
 public:
  void add(double x) {
    const double sum = high_ + x;
    low_ += std::abs(high_) >= std::abs(x) ? (high_ - sum) + x : (x - sum) + high_;
    high_ = sum;
  }
  double value() const { return high_ + low_; }

 private:
  double high_ = 0.0, low_ = 0.0;
};

/// Returns Σ term(i) over begin ≤ i < end, evaluating each term once and in order. The terms are summed in
/// blocks, so that the rounding error does not grow with their number. Error: below 2⁻⁴³ Σ |term|.
template <class Term>
double sum_in_blocks(std::size_t begin, std::size_t end, Term&& term) {
  constexpr std::size_t block = 1024;
  Sum total;
  while (begin < end) {
    const std::size_t stop = std::min(begin + block, end);
    double sum = 0.0;
    for (; begin < stop; ++begin) sum += term(begin);
    total.add(sum);
  }
  return total.value();
}

/// Returns Σ x[j] from eight independent partial sums. Error: below n · 2⁻⁵³ Σ |x[j]|.
inline double sum_of(std::span<const double> x) {
  constexpr std::size_t running = 8;
  std::array<double, running> sums{};
  std::size_t i = 0;
  for (; i + running <= x.size(); i += running) {
    for (std::size_t j = 0; j < running; ++j) sums[j] += x[i + j];
  }
  for (; i < x.size(); ++i) sums[0] += x[i];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

/// Returns element `at`, counted from 0, of the numbers in ascending order.
/// Requires: at < numbers.size().
inline double nth_smallest(std::vector<double> numbers, std::size_t at) {
  SPECTR_CHECK(at < numbers.size());
  const auto place = numbers.begin() + static_cast<std::ptrdiff_t>(at);
  std::ranges::nth_element(numbers, place);
  return *place;
}

/// Returns the median; of an even count, the higher of the two middle numbers. Requires: at least one number.
inline double median(std::vector<double> numbers) {
  const std::size_t middle = numbers.size() / 2;
  return nth_smallest(std::move(numbers), middle);
}

/// Returns the lower quartile: a quarter of the numbers are at most it. Requires: at least one number.
inline double lower_quartile(std::vector<double> numbers) {
  const std::size_t quarter = numbers.size() / 4;
  return nth_smallest(std::move(numbers), quarter);
}

}  // namespace spectr
