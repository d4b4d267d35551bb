#pragma once

#include <cstddef>

namespace spectr {

/// n / by, rounded up. Requires: by > 0; n + by does not overflow.
constexpr std::size_t div_up(std::size_t n, std::size_t by) {
  return (n + by - 1) / by;
}

/// The least multiple of `by` from n on. Requires: by > 0; n + by does not overflow.
constexpr std::size_t round_up(std::size_t n, std::size_t by) {
  return div_up(n, by) * by;
}

}  // namespace spectr
