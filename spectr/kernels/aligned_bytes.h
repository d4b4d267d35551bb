#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace spectr {

struct FreeBytes {
  std::align_val_t alignment{};
  void operator()(std::uint8_t* bytes) const { ::operator delete(bytes, alignment); }
};

/// Bytes that start on a cache line, in huge pages where the system has them and the size is worth it.
using AlignedBytes = std::unique_ptr<std::uint8_t[], FreeBytes>;

/// Throws std::bad_alloc. The content is not initialised.
AlignedBytes allocate_aligned(std::size_t size);

}  // namespace spectr
