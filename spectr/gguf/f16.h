#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace spectr {

/// An IEEE 754 binary16 number as it lies in memory.
struct F16 {
  std::uint16_t bits;
};

/// The number with these IEEE 754 binary16 bits. Every one of them is a float.
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

/// The F16 number nearest to x, of two the even one; beyond the largest one, 65504, that one. Infinity stays;
/// any NaN becomes a quiet one of its sign. The kernels have a version for many numbers (vector_ops.h).
inline F16 round_to_f16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x), size = bits & 0x7FFF'FFFFu;
  const std::uint32_t cut = std::min(size, 0x477F'E000u);  // 65504
  // 13 bits are dropped: what is added carries where they are more than half of the last one that stays, or
  // just half of it and that one is odd.
  const std::uint32_t normal = ((cut + 0xFFFu + (cut >> 13 & 1u)) >> 13) - ((127u - 15u) << 10);
  // F16 numbers below 2⁻¹⁴ are multiples of 2⁻²⁴, as floats from ½ to 1 are.
  const auto raised = std::bit_cast<std::uint32_t>(std::bit_cast<float>(cut) + 0.5f);
  const std::uint32_t small = raised - std::bit_cast<std::uint32_t>(0.5f);
  const std::uint32_t number = cut < 0x3880'0000u ? small : normal;
  const std::uint32_t f16 = size < 0x7F80'0000u ? number : size == 0x7F80'0000u ? 0x7C00u : 0x7E00u;
  return {static_cast<std::uint16_t>(f16 | (bits >> 16 & 0x8000u))};
}

/// The number with these bfloat16 bits: the upper half of a float.
inline float bf16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace spectr
