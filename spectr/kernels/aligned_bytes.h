#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace spectr {

struct FreeBytes {
  void operator()(std::uint8_t* bytes) const { std::free(bytes); }
};

/// Bytes that start on a cache line, in huge pages where the system has them and the size is worth it.
using AlignedBytes = std::unique_ptr<std::uint8_t[], FreeBytes>;

/// Throws std::bad_alloc. The content is not initialised.
AlignedBytes allocate_aligned(std::size_t size);

}  // namespace spectr
