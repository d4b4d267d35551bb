#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace spectr {

/// An IEEE 754 binary16 number as stored in memory.
struct F16 {
  std::uint16_t bits;
};

/// Converts IEEE 754 binary16 bits to a float; the conversion is exact.
inline float f16_to_float(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1Fu;
  const std::uint32_t fraction = bits & 0x3FFu;
  if (exponent == 0) {  // zero and subnormal: fraction · 2⁻²⁴
    const float size = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(size));
  }
  const std::uint32_t wide = exponent == 31 ? 255 : exponent + (127 - 15);
  return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

/// Rounds x to the nearest F16 number, ties to even. Larger finite values become ±65504, the largest number;
/// infinity stays, and a NaN becomes a quiet one of its sign. Kernels have a vector version (vector_ops.h).
inline F16 round_to_f16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x), size = bits & 0x7FFF'FFFFu;
  const std::uint32_t cut = std::min(size, 0x477F'E000u);  // 65504
  // Drops 13 bits. The addend carries if they exceed half of the last remaining bit, or equal it and that bit
  // is odd.
  const std::uint32_t normal = ((cut + 0xFFFu + (cut >> 13 & 1u)) >> 13) - ((127u - 15u) << 10);
  // F16 numbers below 2⁻¹⁴ are multiples of 2⁻²⁴, as are floats from ½ to 1.
  const auto raised = std::bit_cast<std::uint32_t>(std::bit_cast<float>(cut) + 0.5f);
  const std::uint32_t small = raised - std::bit_cast<std::uint32_t>(0.5f);
  const std::uint32_t number = cut < 0x3880'0000u ? small : normal;
  const std::uint32_t f16 = size < 0x7F80'0000u ? number : size == 0x7F80'0000u ? 0x7C00u : 0x7E00u;
  return {static_cast<std::uint16_t>(f16 | (bits >> 16 & 0x8000u))};
}

/// Converts bfloat16 bits, the upper half of a float.
inline float bf16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace spectr
