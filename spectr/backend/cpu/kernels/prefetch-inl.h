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

/// Starts to load the next `bytes` bytes of the upcoming quants, a fourth of them at each of the four places;
/// or, in line, those and their share of the headers.
template <int bytes, int header_bytes, CacheLevel level>
HWY_INLINE void prefetch_quants(PanelPrefetch& upcoming) {
  if (upcoming.apart == 0) {
    prefetch<bytes + header_bytes, level>(upcoming.quants);
    upcoming.quants += bytes + header_bytes;
    return;
  }
  for (std::size_t i = 0; i < 4; ++i) prefetch<bytes / 4, level>(upcoming.quants + i * upcoming.apart);
  upcoming.quants += bytes / 4;
}

}  // namespace spectr
