#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "spectr/base/result.h"

namespace spectr {

static_assert(std::endian::native == std::endian::little,
              "files are little-endian, and are read as they are");

/// Reads values from the front of a file's bytes, with bounds checks. `what` names the field in errors, which
/// also give its position, its claimed length and the bytes available.
class ByteCursor {
 public:
  explicit ByteCursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint64_t position() const { return position_; }
  std::uint64_t remaining() const { return bytes_.size() - position_; }

  Result<std::span<const std::byte>> take(std::uint64_t length, std::string_view what) {
    if (length > remaining()) {
      return error("{} at byte {} needs {} bytes, but only {} are left", what, position_, length,
                   remaining());
    }
    const auto taken = bytes_.subspan(position_, length);
    position_ += length;
    return taken;
  }

  template <class T>
    requires std::is_arithmetic_v<T>
  Result<T> number(std::string_view what) {
    SPECTR_TRY(const auto bytes, take(sizeof(T), what));
    T value;
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }

  /// Reads a string as GGUF stores it: a 64-bit length, then the characters.
  Result<std::string_view> string(std::string_view what) {
    constexpr std::uint64_t longest = std::uint64_t{1} << 30;
    const std::uint64_t start = position_;
    SPECTR_TRY(const auto length, number<std::uint64_t>(what));
    if (length > longest || length > remaining()) {
      return error("{} at byte {} claims a length of {} bytes, but only {} are left and 2^30 is the limit",
                   what, start, length, remaining());
    }
    SPECTR_TRY(const auto bytes, take(length, what));
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }

 private:
  std::span<const std::byte> bytes_;
  std::uint64_t position_ = 0;
};

}  // namespace spectr
