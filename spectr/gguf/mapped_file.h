#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "spectr/base/result.h"

namespace spectr {

/// A regular file that is not empty, mapped into memory for reading as long as the object lives. The bytes
/// begin on a page. Where another process shortens the file meanwhile, reading what is gone raises SIGBUS;
/// mapped_file_at tells whoever handles that which file it was.
class MappedFile {
 public:
  /// Error: the path, with what the system says about it.
  static Result<std::shared_ptr<const MappedFile>> open(const std::filesystem::path& path);

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }
  bool contains(std::span<const std::byte> part) const {
    return std::greater_equal<>()(part.data(), bytes_.data()) &&
           std::less_equal<>()(part.data() + part.size(), bytes_.data() + bytes_.size());
  }

  /// Gives the memory of these bytes back to the system: they stay readable, and come from the file again.
  /// Requires: a part of bytes().
  void forget(std::span<const std::byte> part) const;

 private:
  MappedFile(std::string path, std::span<const std::byte> bytes);

  std::string path_;
  std::span<const std::byte> bytes_;
  std::size_t entry_;  // among all that are mapped
};

/// The path of the mapped file whose bytes this address is among; null: it is among none's, or of one of more
/// files than are remembered (1,024). May be called in a signal handler.
const char* mapped_file_at(const void* address) noexcept;

}  // namespace spectr
