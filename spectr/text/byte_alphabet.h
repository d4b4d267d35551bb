#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "spectr/base/utf8.h"

namespace spectr {

// GPT-2 writes its tokens in an alphabet of 256 visible characters, one per byte: printable Latin-1 bytes map
// to themselves, the others, in ascending order, to U+0100, U+0101, … (a space is U+0120, Ġ).

constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
}

/// The code point of each byte, below U+0144.
constexpr std::array<unsigned, 256> byte_alphabet = [] {
  std::array<unsigned, 256> characters{};
  unsigned next = 256;
  for (unsigned byte = 0; byte < 256; ++byte) characters[byte] = stands_for_itself(byte) ? byte : next++;
  return characters;
}();

/// Appends the character for a byte, in UTF-8.
inline void append_alphabet_character(unsigned char byte, std::string& out) {
  append_utf8(byte_alphabet[byte], out);
}

/// Returns the byte that a character of the alphabet (one, in UTF-8) encodes.
inline std::optional<char> alphabet_byte(std::string_view character) {
  static constexpr auto bytes = [] {
    std::array<int, 0x144> inverse{};
    inverse.fill(-1);
    for (int byte = 0; byte < 256; ++byte) inverse[byte_alphabet[static_cast<std::size_t>(byte)]] = byte;
    return inverse;
  }();
  const auto code_point = code_point_of(character);
  if (!code_point || *code_point >= bytes.size() || bytes[*code_point] < 0) return std::nullopt;
  return static_cast<char>(bytes[*code_point]);
}

}  // namespace spectr
