#include "spectr/base/os/pages.h"

#include <sys/mman.h>

#include <new>
#include <utility>

namespace spectr {

ZeroedPages::ZeroedPages(std::size_t size) {
  if (size == 0) return;
  void* const address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) throw std::bad_alloc();
  prefer_huge_pages(address, size);
  bytes_ = {static_cast<std::byte*>(address), size};
}

ZeroedPages::ZeroedPages(ZeroedPages&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

ZeroedPages::~ZeroedPages() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

void prefer_huge_pages([[maybe_unused]] void* address, [[maybe_unused]] std::size_t size) {
#ifdef __linux__
  ::madvise(address, size, MADV_HUGEPAGE);
#endif
}

}  // namespace spectr
