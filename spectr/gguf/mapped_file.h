#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "spectr/base/result.h"

namespace spectr {

/// A regular, non-empty file, mapped into memory for reading for the lifetime of the object. The bytes begin
/// at a page boundary. If another process truncates the file, reading the missing part raises SIGBUS; the
/// handler can find the file with mapped_file_at().
class MappedFile {
 public:
  /// Fails with the path and the system's error message.
  static Result<std::shared_ptr<const MappedFile>> open(const std::filesystem::path& path);

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }
  bool contains(std::span<const std::byte> part) const {
    return std::greater_equal<>()(part.data(), bytes_.data()) &&
           std::less_equal<>()(part.data() + part.size(), bytes_.data() + bytes_.size());
  }

  /// Returns the memory of these bytes to the system; they stay readable, and are then read from the file
  /// again. Requires: a part of bytes().
  void forget(std::span<const std::byte> part) const;

 private:
  MappedFile(std::string path, std::span<const std::byte> bytes);

  std::string path_;
  std::span<const std::byte> bytes_;
  std::size_t entry_;  // index among all mapped files
};

/// Returns the path of the mapped file that contains this address; null if there is none, or if it is not
/// among the 1,024 files that are tracked. Safe to call in a signal handler.
const char* mapped_file_at(const void* address) noexcept;

}  // namespace spectr
