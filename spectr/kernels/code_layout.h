#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "spectr/kernels/tensor_type.h"

namespace spectr {

/// What a quantised format consists of. A unit of `columns` weights of one row has `halves` numbers of 16
/// bits (a factor d and, where has_min, a factor of the minima), `scale_bytes` bytes of packed small scales,
/// and one code per weight. Every `scale_columns` weights share a scale s and a minimum m:
///
///     weight = s · (c − offset) − m        (Q4_1, Q5_1: + m)
///
/// where c is what the code stands for.
struct CodeLayout {
  /// Itself, a signed byte, or the number at its place in nonlinear_codes.
  enum class Codes { unsigned_numbers, signed_bytes, places };

  int columns;
  int halves;
  int scale_bytes = 0;
  int low_bits;  ///< a code is low_bits + high_bits wide, kept as two planes
  int high_bits = 0;
  int offset = 0;
  bool has_min = false;
  int scale_columns;
  Codes codes = Codes::unsigned_numbers;

  /// Whether c is a signed byte of full range.
  constexpr bool has_signed_bytes() const { return codes != Codes::unsigned_numbers; }
  constexpr int bits() const { return low_bits + high_bits; }
  constexpr int header_bytes() const { return 2 * halves + scale_bytes; }
  /// Blocks of 32 columns in a unit, and scales in a block.
  constexpr int blocks() const { return columns / 32; }
  constexpr int scales_per_block() const { return 32 / scale_columns; }
};

/// What the codes of IQ4_NL and IQ4_XS stand for: closer together where weights are likelier. The numbers are
/// those of llama.cpp, which defines the formats.
alignas(16) inline constexpr std::array<std::int8_t, 16> nonlinear_codes = {
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

/// Absent for the formats without codes: F32, F16, BF16.
constexpr std::optional<CodeLayout> code_layout(TensorType type) {
  switch (type) {
    using enum TensorType;
    case q8_0:
      return CodeLayout{.columns = 32,
                        .halves = 1,
                        .low_bits = 8,
                        .scale_columns = 32,
                        .codes = CodeLayout::Codes::signed_bytes};
    case q4_0:
      return CodeLayout{.columns = 32, .halves = 1, .low_bits = 4, .offset = 8, .scale_columns = 32};
    case q4_1:
      return CodeLayout{.columns = 32, .halves = 2, .low_bits = 4, .has_min = true, .scale_columns = 32};
    case q5_0:
      return CodeLayout{
          .columns = 32, .halves = 1, .low_bits = 4, .high_bits = 1, .offset = 16, .scale_columns = 32};
    case q5_1:
      return CodeLayout{
          .columns = 32, .halves = 2, .low_bits = 4, .high_bits = 1, .has_min = true, .scale_columns = 32};
    case q2_k:
      return CodeLayout{.columns = 256,
                        .halves = 2,
                        .scale_bytes = 16,
                        .low_bits = 2,
                        .has_min = true,
                        .scale_columns = 16};
    case q3_k:
      return CodeLayout{.columns = 256,
                        .halves = 1,
                        .scale_bytes = 12,
                        .low_bits = 2,
                        .high_bits = 1,
                        .offset = 4,
                        .scale_columns = 16};
    case q4_k:
      return CodeLayout{.columns = 256,
                        .halves = 2,
                        .scale_bytes = 12,
                        .low_bits = 4,
                        .has_min = true,
                        .scale_columns = 32};
    case q5_k:
      return CodeLayout{.columns = 256,
                        .halves = 2,
                        .scale_bytes = 12,
                        .low_bits = 4,
                        .high_bits = 1,
                        .has_min = true,
                        .scale_columns = 32};
    case q6_k:
      return CodeLayout{.columns = 256,
                        .halves = 1,
                        .scale_bytes = 16,
                        .low_bits = 4,
                        .high_bits = 2,
                        .offset = 32,
                        .scale_columns = 16};
    case iq4_nl:
      return CodeLayout{
          .columns = 32, .halves = 1, .low_bits = 4, .scale_columns = 32, .codes = CodeLayout::Codes::places};
    case iq4_xs:
      return CodeLayout{.columns = 256,
                        .halves = 1,
                        .scale_bytes = 6,
                        .low_bits = 4,
                        .scale_columns = 32,
                        .codes = CodeLayout::Codes::places};
    case f32:
    case f16:
    case bf16:
      break;
  }
  return std::nullopt;
}

/// A unit of one row, taken apart.
struct CodeUnit {
  std::array<std::uint16_t, 2> halves;
  std::array<std::uint8_t, 16> scales;
  std::array<std::uint8_t, 256> codes;
};

/// Takes a unit apart as it stands in a file.
void split_unit(TensorType type, const std::byte* file, CodeUnit& unit);

/// out[j] = the weight of column j, j < columns, rounded as the format's definition rounds it.
void unit_values(TensorType type, const CodeUnit& unit, float* out);

}  // namespace spectr
