#pragma once

#include <cstddef>
#include <span>

namespace spectr {

/// Zeroed memory from the system, in huge pages if available. A page takes no memory until it is written to.
class ZeroedPages {
 public:
  /// Throws std::bad_alloc if the system cannot provide `size` bytes.
  explicit ZeroedPages(std::size_t size);
  ~ZeroedPages();
  ZeroedPages(ZeroedPages&& other) noexcept;
  ZeroedPages& operator=(ZeroedPages&&) = delete;

  std::byte* data() const { return bytes_.data(); }

 private:
  std::span<std::byte> bytes_;
};

/// Asks the system for huge pages in [address, address + size), whose address is a multiple of the page size.
/// Has no effect if the system has none.
void prefer_huge_pages(void* address, std::size_t size);

}  // namespace spectr
