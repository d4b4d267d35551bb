#pragma once

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "spectr/base/result.h"

namespace spectr {

/// Opens a file for binary reading. Fails if it cannot be opened or is a directory, which can be opened but
/// not read. Callers must check bad() after reading.
inline Result<std::ifstream> open_file(const std::filesystem::path& path) {
  std::error_code failed;
  if (std::filesystem::is_directory(path, failed))
    return error(ErrorCode::io, "{}: is a directory", path.string());
  std::ifstream file(path, std::ios::binary);
  if (!file) return error(ErrorCode::io, "{}: {}", path.string(), std::strerror(errno));
  return file;
}

}  // namespace spectr
