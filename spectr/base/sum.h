#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace spectr {

/// Σ x[j] in eight running sums, which do not wait for one another. Error: below n · 2⁻⁵³ Σ |x[j]|.
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

}  // namespace spectr
