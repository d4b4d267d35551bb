#include <algorithm>

#include "spectr/kernels/split.h"

namespace spectr::split {
namespace {

/// 64 bytes hold 256 codes of 2 bits: byte 32a + l has the codes 128a + 32b + l, b = 0…3, from low to high.
void pairs_of_bits(const std::uint8_t* file, CodeUnit& unit) {
  for (int j = 0; j < 256; ++j) {
    unit.codes[j] = file[32 * (j / 128) + j % 32] >> (2 * (j % 128 / 32)) & 3;
  }
}

/// 128 bytes hold 256 nibbles: byte 32a + l has the codes 64a + l (low) and 64a + 32 + l (high).
void nibbles_of_256(const std::uint8_t* file, CodeUnit& unit) {
  for (int j = 0; j < 256; ++j) {
    unit.codes[j] = file[32 * (j / 64) + j % 32] >> (4 * (j % 64 / 32)) & 15;
  }
}

/// Bit j / 32 of byte j mod 32 becomes bit `position` of code j.
void add_bit(const std::uint8_t* file, int position, CodeUnit& unit) {
  for (int j = 0; j < 256; ++j) {
    unit.codes[j] = static_cast<std::uint8_t>(unit.codes[j] | (file[j % 32] >> (j / 32) & 1) << position);
  }
}

}  // namespace

// File: 16 scale bytes, 64 bytes of codes, d, d of the minima.
void q2_k(const std::uint8_t* file, CodeUnit& unit) {
  std::copy_n(file, 16, unit.scales.begin());
  pairs_of_bits(file + 16, unit);
  unit.halves = {half(file + 80), half(file + 82)};
}

// File: 32 bytes of high bits, 64 bytes of low bits, 12 scale bytes, d.
void q3_k(const std::uint8_t* file, CodeUnit& unit) {
  pairs_of_bits(file + 32, unit);
  add_bit(file, 2, unit);
  std::copy_n(file + 96, 12, unit.scales.begin());
  unit.halves[0] = half(file + 108);
}

// File: d, d of the minima, 12 scale bytes, 128 bytes of nibbles.
void q4_k(const std::uint8_t* file, CodeUnit& unit) {
  unit.halves = {half(file), half(file + 2)};
  std::copy_n(file + 4, 12, unit.scales.begin());
  nibbles_of_256(file + 16, unit);
}

// File: d, d of the minima, 12 scale bytes, 32 bytes of high bits, 128 bytes of nibbles.
void q5_k(const std::uint8_t* file, CodeUnit& unit) {
  unit.halves = {half(file), half(file + 2)};
  std::copy_n(file + 4, 12, unit.scales.begin());
  nibbles_of_256(file + 48, unit);
  add_bit(file + 16, 4, unit);
}

// File: 128 bytes of nibbles, 64 bytes of high pairs of bits, 16 scales, d. In the half 128a … 128a + 127 the
// nibbles of byte 64a + l, l < 64, belong to codes 128a + l and 128a + 64 + l.
void q6_k(const std::uint8_t* file, CodeUnit& unit) {
  const std::uint8_t* high = file + 128;
  for (int j = 0; j < 256; ++j) {
    const int a = j / 128;
    const int low = file[64 * a + j % 64] >> (4 * (j % 128 / 64)) & 15;
    const int pair = high[32 * a + j % 32] >> (2 * (j % 128 / 32)) & 3;
    unit.codes[j] = static_cast<std::uint8_t>(low | pair << 4);
  }
  std::copy_n(file + 192, 16, unit.scales.begin());
  unit.halves[0] = half(file + 208);
}

}  // namespace spectr::split
