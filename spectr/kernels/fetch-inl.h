// Asking for memory before it is needed.
#pragma once

#include <cstddef>

namespace spectr {

/// Starts to load the `bytes` bytes at `p`, any address, into the cache.
template <int bytes, class T>
HWY_INLINE void fetch_early(const T* p) {
  for (int i = 0; i < bytes; i += 64) __builtin_prefetch(p + i, 0, 3);
}

}  // namespace spectr
