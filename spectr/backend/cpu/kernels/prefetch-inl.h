// Loading of memory into a cache before it is needed.
#pragma once

#include <cstddef>

#include "spectr/backend/cpu/kernels/panels.h"

namespace spectr {

/// The nearest cache, or the second, which keeps what is still far from use.
enum class CacheLevel { first, second };

/// How an instruction set brings panels from memory.
struct Prefetching {
  /// Four panels come interleaved where they have at most so many bytes.
  std::size_t interleaved_bytes = std::size_t{64} << 10;
  PanelOrder fallback = PanelOrder::quarters;  ///< the order of larger ones
  CacheLevel to = CacheLevel::first;
};

/// Starts to load the `bytes` bytes at `p`, any address, into the cache.
template <int bytes, CacheLevel level = CacheLevel::first, class T>
HWY_INLINE void prefetch(const T* p) {
  for (int i = 0; i < bytes; i += 64) __builtin_prefetch(p + i, 0, level == CacheLevel::first ? 3 : 2);
}

/// Starts to load line i, of 64 bytes, of the upcoming quants: the four places take turns.
template <CacheLevel level>
HWY_INLINE void prefetch_line(const PanelPrefetch& upcoming, std::size_t i) {
  prefetch<64, level>(upcoming.quants + i % 4 * upcoming.apart + i / 4 * 64);
}

/// Starts to load share `share` of `shares` of the next `bytes` bytes of the upcoming quants, a fourth of
/// them at each of the four places; or, in line, of those and their share of the headers. A core can wait for
/// a limited number of lines: were all prefetched at once, what is needed now would have to wait behind them.
template <int bytes, int header_bytes, CacheLevel level>
HWY_INLINE void prefetch_share(const PanelPrefetch& upcoming, std::size_t share, std::size_t shares) {
  constexpr std::size_t lines = (bytes / 4 + 63) / 64 * 4, lines_in_line = (bytes + header_bytes + 63) / 64;
  if (upcoming.apart == 0) {
    for (std::size_t i = share * lines_in_line / shares; i < (share + 1) * lines_in_line / shares; ++i) {
      prefetch<64, level>(upcoming.quants + 64 * i);
    }
  } else {
    for (std::size_t i = share * lines / shares; i < (share + 1) * lines / shares; ++i) {
      prefetch_line<level>(upcoming, i);
    }
  }
}

/// Leaves these bytes behind.
template <int bytes, int header_bytes>
HWY_INLINE void move_on(PanelPrefetch& upcoming) {
  upcoming.quants += upcoming.apart == 0 ? bytes + header_bytes : bytes / 4;
}

}  // namespace spectr
