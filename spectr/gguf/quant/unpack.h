// Unpacking of quants as GGUF files pack them.
#pragma once

#include <cstdint>

namespace spectr::quant {

/// Returns the 16 bits at `file`, low byte first.
inline std::uint16_t bits16(const std::uint8_t* file) {
  return static_cast<std::uint16_t>(file[0] | file[1] << 8);
}

/// Returns the 32 bits at `file`, low byte first.
inline std::uint32_t bits32(const std::uint8_t* file) {
  return static_cast<std::uint32_t>(bits16(file)) | static_cast<std::uint32_t>(bits16(file + 2)) << 16;
}

/// Unpacks 32 quants from 16 bytes: byte j has quant j in its low and quant j + 16 in its high nibble.
inline void unpack_nibbles(const std::uint8_t* file, std::uint8_t* quants) {
  for (int j = 0; j < 16; ++j) {
    quants[j] = file[j] & 15;
    quants[j + 16] = file[j] >> 4;
  }
}

/// Adds the fifth bits: bit j of 4 bytes is bit 4 of quant j.
inline void add_fifth_bits(const std::uint8_t* file, std::uint8_t* quants) {
  for (int j = 0; j < 32; ++j) {
    quants[j] = static_cast<std::uint8_t>(quants[j] | ((file[j / 8] >> (j % 8)) & 1) << 4);
  }
}

/// Unpacks 256 quants of 2 bits: byte 32a + l has the quants 128a + 32b + l, b = 0…3, from low to high.
inline void unpack_256_pairs(const std::uint8_t* file, std::uint8_t* quants) {
  for (int j = 0; j < 256; ++j) quants[j] = file[32 * (j / 128) + j % 32] >> (2 * (j % 128 / 32)) & 3;
}

/// Unpacks 256 nibbles: byte 32a + l has the quants 64a + l (low) and 64a + 32 + l (high).
inline void unpack_256_nibbles(const std::uint8_t* file, std::uint8_t* quants) {
  for (int j = 0; j < 256; ++j) quants[j] = file[32 * (j / 64) + j % 32] >> (4 * (j % 64 / 32)) & 15;
}

/// Adds one bit to each of 256 quants: bit j / 32 of byte j mod 32 becomes bit `position` of quant j.
inline void add_256_bits(const std::uint8_t* file, int position, std::uint8_t* quants) {
  for (int j = 0; j < 256; ++j) {
    quants[j] = static_cast<std::uint8_t>(quants[j] | (file[j % 32] >> (j / 32) & 1) << position);
  }
}

}  // namespace spectr::quant
