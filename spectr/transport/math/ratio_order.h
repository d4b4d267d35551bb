#pragma once

#include <cstdint>
#include <span>

#include "spectr/base/recycled.h"

namespace spectr {

/// The indices i with p[i] > 0 by q[i] / p[i] ascending, ties by index. Requires: p, q ≥ 0 and of one length
/// below 2³². Cost: O(n log n), a radix sort's O(n) where the list is long.
RecycledVector<std::uint32_t> ratio_order(std::span<const double> p, std::span<const double> q);

}  // namespace spectr
