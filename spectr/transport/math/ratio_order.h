#pragma once

#include <cstdint>
#include <span>

#include "spectr/base/recycled.h"

namespace spectr {

/// Returns the indices i with p[i] > 0, sorted by q[i] / p[i] ascending, ties by index. Requires: p, q ≥ 0
/// and of the same length below 2³². Cost: O(n log n), or O(n) by radix sort for long lists.
RecycledVector<std::uint32_t> ratio_order(std::span<const double> p, std::span<const double> q);

}  // namespace spectr
