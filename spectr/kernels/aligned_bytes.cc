#include "spectr/kernels/aligned_bytes.h"

#include <algorithm>
#include <new>

#include "spectr/base/rounding.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace spectr {
namespace {

constexpr std::size_t cache_line = 64;
constexpr std::size_t huge_page = std::size_t{2} << 20;

}  // namespace

AlignedBytes allocate_aligned(std::size_t size) {
  const std::size_t alignment = size >= huge_page ? huge_page : cache_line;
  const std::size_t rounded = round_up(size, cache_line);
  void* const bytes = ::operator new(std::max(rounded, cache_line), std::align_val_t(alignment));
#ifdef __linux__
  // A pass reads every page of the weights once: with pages of 4 KiB it would wait for address translation.
  if (alignment == huge_page) madvise(bytes, rounded, MADV_HUGEPAGE);
#endif
  return AlignedBytes(static_cast<std::uint8_t*>(bytes), FreeBytes{std::align_val_t(alignment)});
}

}  // namespace spectr
