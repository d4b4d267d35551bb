// Prefetching of memory into caches.
#pragma once

#include <cstddef>

#include "spectr/backend/cpu/kernels/panels.h"

namespace spectr {

/// The L1 cache, or the L2 cache for what is used later.
enum class CacheLevel { first, second };

/// An instruction set's parameters for prefetching panels.
struct Prefetching {
  /// Four panels are interleaved if they have at most this many bytes.
  std::size_t interleaved_bytes = std::size_t{64} << 10;
  PanelOrder fallback = PanelOrder::quarters;  ///< the order of larger panels
  CacheLevel to = CacheLevel::first;
};

/// Prefetches the `bytes` bytes at `p`, any address.
template <int bytes, CacheLevel level = CacheLevel::first, class T>
HWY_INLINE void prefetch(const T* p) {
  for (int i = 0; i < bytes; i += 64) __builtin_prefetch(p + i, 0, level == CacheLevel::first ? 3 : 2);
}

/// Prefetches line i, of 64 bytes, of the upcoming quants, alternating between the four streams.
template <CacheLevel level>
HWY_INLINE void prefetch_line(const PanelPrefetch& upcoming, std::size_t i) {
  prefetch<64, level>(upcoming.quants + i % 4 * upcoming.stride + i / 4 * 64);
}

/// Prefetches share `share` of `shares` of the next `bytes` bytes of the upcoming quants, a quarter in each
/// of the four streams; or, in line, of these and their headers. A core supports a limited number of
/// outstanding lines: prefetching all at once would delay loads that are needed now.
template <int bytes, int header_bytes, CacheLevel level>
HWY_INLINE void prefetch_share(const PanelPrefetch& upcoming, std::size_t share, std::size_t shares) {
  constexpr std::size_t lines = (bytes / 4 + 63) / 64 * 4, lines_in_line = (bytes + header_bytes + 63) / 64;
  if (upcoming.stride == 0) {
    for (std::size_t i = share * lines_in_line / shares; i < (share + 1) * lines_in_line / shares; ++i) {
      prefetch<64, level>(upcoming.quants + 64 * i);
    }
  } else {
    for (std::size_t i = share * lines / shares; i < (share + 1) * lines / shares; ++i) {
      prefetch_line<level>(upcoming, i);
    }
  }
}

/// Advances past these bytes.
template <int bytes, int header_bytes>
HWY_INLINE void move_on(PanelPrefetch& upcoming) {
  upcoming.quants += upcoming.stride == 0 ? bytes + header_bytes : bytes / 4;
}

}  // namespace spectr
