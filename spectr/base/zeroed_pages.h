#pragma once

#include <cstddef>
#include <span>

namespace spectr {

/// Zeros from the system, in large pages where it has them: a page takes no memory before it is written to.
class ZeroedPages {
 public:
  /// Throws std::bad_alloc where the system refuses so much.
  explicit ZeroedPages(std::size_t size);
  ~ZeroedPages();
  ZeroedPages(ZeroedPages&& other) noexcept;
  ZeroedPages& operator=(ZeroedPages&&) = delete;

  std::byte* data() const { return bytes_.data(); }

 private:
  std::span<std::byte> bytes_;
};

}  // namespace spectr
