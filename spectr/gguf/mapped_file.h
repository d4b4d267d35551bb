#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "spectr/base/result.h"

namespace spectr {

/// A regular file that is not empty, mapped into memory for reading as long as the object lives. The bytes
/// begin on a page. A file that another process shortens meanwhile is beyond what can be checked here.
class MappedFile {
 public:
  /// Error: the path, with what the system says about it.
  static Result<std::shared_ptr<const MappedFile>> open(const std::filesystem::path& path);

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

  /// Gives the memory of these bytes back to the system: they stay readable, and come from the file again.
  /// Requires: a part of bytes().
  void forget(std::span<const std::byte> part) const;

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::span<const std::byte> bytes_;
};

}  // namespace spectr
