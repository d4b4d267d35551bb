#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace spectr {

/// Bytes that start on a cache line.
using AlignedBytes = std::shared_ptr<std::uint8_t[]>;

/// In large pages where the system has them and the size is worth it. Throws std::bad_alloc. The content is
/// not initialized.
AlignedBytes allocate_aligned(std::size_t size);

/// Large pages that matrices lie in one after the other which are too small to have some alone: with pages of
/// 4 KiB a pass over them would wait for the translation of addresses.
class SharedPages {
 public:
  /// As allocate_aligned(). The pages go back to the system with the last of what lies in them.
  AlignedBytes allocate(std::size_t size);

 private:
  AlignedBytes begun_;
  std::size_t used_ = 0, size_ = 0;  // bytes of it
};

}  // namespace spectr
