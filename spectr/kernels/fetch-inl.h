// Asking for memory before it is needed.
#pragma once

#include <cstddef>

namespace spectr {

/// Starts to load the `bytes` bytes at `p` into the cache: the nearest one where a sweep of few rows consumes
/// them as fast as they come, else the second, whose larger number of open requests outlasts the arithmetic.
template <int rows, int bytes, class T>
HWY_INLINE void fetch_early(const T* p) {
  for (int i = 0; i < bytes; i += 64) __builtin_prefetch(p + i, 0, rows <= 2 ? 3 : 1);
}

}  // namespace spectr
