#include "spectr/backend/cpu/kernels/aligned_bytes.h"

#include <algorithm>
#include <new>

#include "spectr/base/numeric.h"
#include "spectr/base/os/pages.h"

namespace spectr {
namespace {

constexpr std::size_t cache_line = 64;
constexpr std::size_t large_page = std::size_t{2} << 20;
// Bytes of a shared allocation; pages that are never written take no memory.
constexpr std::size_t shared_bytes = 16 * large_page;

}  // namespace

AlignedBytes allocate_aligned(std::size_t size) {
  const std::align_val_t alignment{size >= large_page ? large_page : cache_line};
  const std::size_t rounded = std::max(round_up(size, cache_line), cache_line);
  void* const bytes = ::operator new(rounded, alignment);
  if (size >= large_page) prefer_huge_pages(bytes, rounded);
  return {static_cast<std::uint8_t*>(bytes),
          [alignment](std::uint8_t* freed) { ::operator delete(freed, alignment); }};
}

AlignedBytes SharedPages::allocate(std::size_t size) {
  if (size >= large_page) return allocate_aligned(size);
  const std::size_t needed = round_up(size, cache_line);
  if (needed > size_ - used_) {
    begun_ = allocate_aligned(shared_bytes);
    size_ = shared_bytes;
    used_ = 0;
  }
  std::uint8_t* const bytes = begun_.get() + used_;
  used_ += needed;
  return {begun_, bytes};
}

}  // namespace spectr
