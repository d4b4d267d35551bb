// Asking for memory before it is needed.
#pragma once

#include <cstddef>

#include "spectr/kernels/panels.h"

namespace spectr {

/// The nearest cache, or the second, which keeps what is still far from use.
enum class CacheLevel { first, second };

/// How an instruction set brings panels from memory.
struct Fetching {
  /// Four panels come abreast where they have at most so many bytes,
  std::size_t abreast_bytes = std::size_t{64} << 10;
  PanelOrder else_in = PanelOrder::quarters;  ///< and larger ones so.
  CacheLevel to = CacheLevel::first;
};

/// Starts to load the `bytes` bytes at `p`, any address, into the cache.
template <int bytes, CacheLevel level = CacheLevel::first, class T>
HWY_INLINE void fetch_early(const T* p) {
  for (int i = 0; i < bytes; i += 64) __builtin_prefetch(p + i, 0, level == CacheLevel::first ? 3 : 2);
}

/// Starts to load line i, of 64 bytes, of the codes that come: the four places take turns.
template <CacheLevel level>
HWY_INLINE void fetch_line(const ComingPanels& coming, std::size_t i) {
  fetch_early<64, level>(coming.codes + i % 4 * coming.apart + i / 4 * 64);
}

/// Starts to load the next `bytes` bytes of the codes that come, a fourth of them at each of the four places;
/// or, in line, those and their share of the headers.
template <int bytes, int header_bytes, CacheLevel level>
HWY_INLINE void fetch_codes(ComingPanels& coming) {
  if (coming.apart == 0) {
    fetch_early<bytes + header_bytes, level>(coming.codes);
    coming.codes += bytes + header_bytes;
    return;
  }
  for (std::size_t i = 0; i < 4; ++i) fetch_early<bytes / 4, level>(coming.codes + i * coming.apart);
  coming.codes += bytes / 4;
}

}  // namespace spectr
