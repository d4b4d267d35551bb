// Asking for memory before it is needed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace spectr {

/// Starts to load the `bytes` bytes at `p`, any address, into the cache.
template <int bytes, class T>
HWY_INLINE void fetch_early(const T* p) {
  for (int i = 0; i < bytes; i += 64) __builtin_prefetch(p + i, 0, 3);
}

/// The codes of the panel that comes next, asked for a block's worth at a time while this panel is used: a
/// part of each of its quarters, as memory answers faster when it is read in several places at once.
class ComingCodes {
 public:
  ComingCodes(const std::uint8_t* codes, std::size_t bytes) : at_(codes), quarter_(bytes / 4) {}

  template <int block_bytes>
  HWY_INLINE void fetch_some() {
    for (std::size_t i = 0; i < 4; ++i) fetch_early<block_bytes / 4>(at_ + i * quarter_);
    at_ += block_bytes / 4;
  }

 private:
  const std::uint8_t* at_;
  std::size_t quarter_;
};

}  // namespace spectr
