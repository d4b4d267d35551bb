#pragma once

#include <cstdint>

#include "spectr/kernels/code_layout.h"

/// The layouts of GGUF files, one function per format: bytes of a unit → its parts.
namespace spectr::split {

void q8_0(const std::uint8_t* file, CodeUnit& unit);
void q4_0(const std::uint8_t* file, CodeUnit& unit);
void q4_1(const std::uint8_t* file, CodeUnit& unit);
void q5_0(const std::uint8_t* file, CodeUnit& unit);
void q5_1(const std::uint8_t* file, CodeUnit& unit);
void q2_k(const std::uint8_t* file, CodeUnit& unit);
void q3_k(const std::uint8_t* file, CodeUnit& unit);
void q4_k(const std::uint8_t* file, CodeUnit& unit);
void q5_k(const std::uint8_t* file, CodeUnit& unit);
void q6_k(const std::uint8_t* file, CodeUnit& unit);
void iq4_nl(const std::uint8_t* file, CodeUnit& unit);
void iq4_xs(const std::uint8_t* file, CodeUnit& unit);

/// Number of 16 bits at `file`, low byte first.
inline std::uint16_t half(const std::uint8_t* file) {
  return static_cast<std::uint16_t>(file[0] | file[1] << 8);
}

/// 16 bytes hold 32 codes: byte j has code j in its low and code j + 16 in its high nibble.
inline void nibbles(const std::uint8_t* file, std::uint8_t* codes) {
  for (int j = 0; j < 16; ++j) {
    codes[j] = file[j] & 15;
    codes[j + 16] = file[j] >> 4;
  }
}

}  // namespace spectr::split
