// Asking for memory before it is needed.
#pragma once

#include <cstddef>

#include "spectr/kernels/panels.h"

namespace spectr {

/// Starts to load the `bytes` bytes at `p`, any address, into the cache.
template <int bytes, class T>
HWY_INLINE void fetch_early(const T* p) {
  for (int i = 0; i < bytes; i += 64) __builtin_prefetch(p + i, 0, 3);
}

/// Starts to load a block's worth of the codes that come: a fourth of it at each of the four places.
template <int block_bytes>
HWY_INLINE void fetch_codes(ComingPanels& coming) {
  for (std::size_t i = 0; i < 4; ++i) fetch_early<block_bytes / 4>(coming.codes + i * coming.apart);
  coming.codes += block_bytes / 4;
}

}  // namespace spectr
