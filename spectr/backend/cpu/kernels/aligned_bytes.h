#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace spectr {

/// Bytes that start on a cache line.
using AlignedBytes = std::shared_ptr<std::uint8_t[]>;

/// Allocates uninitialized memory, using large pages if supported and worthwhile. Throws
/// std::bad_alloc.
AlignedBytes allocate_aligned(std::size_t size);

/// Packs matrices that are too small for a large page of their own into shared large pages. With pages of 4
/// KiB, a pass over them would be limited by TLB misses.
class SharedPages {
 public:
  /// Allocates like allocate_aligned(). Pages are freed with the last allocation in them.
  AlignedBytes allocate(std::size_t size);

 private:
  AlignedBytes begun_;
  std::size_t used_ = 0, size_ = 0;  // in bytes
};

}  // namespace spectr
