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
///     weight = s · (code − offset) − m        (Q8_0: the code is a signed byte; Q4_1, Q5_1: + m)
struct CodeLayout {
  int columns;
  int halves;
  int scale_bytes;
  int low_bits;  ///< a code is low_bits + high_bits wide, kept as two planes
  int high_bits;
  int offset;
  bool has_min;
  int scale_columns;

  constexpr int bits() const { return low_bits + high_bits; }
  constexpr int header_bytes() const { return 2 * halves + scale_bytes; }
  /// Blocks of 32 columns in a unit, and scales in a block.
  constexpr int blocks() const { return columns / 32; }
  constexpr int scales_per_block() const { return 32 / scale_columns; }
};

/// Absent for the formats without codes: F32, F16, BF16.
constexpr std::optional<CodeLayout> code_layout(TensorType type) {
  switch (type) {
    using enum TensorType;
    case q8_0:
      return CodeLayout{32, 1, 0, 8, 0, 0, false, 32};
    case q4_0:
      return CodeLayout{32, 1, 0, 4, 0, 8, false, 32};
    case q4_1:
      return CodeLayout{32, 2, 0, 4, 0, 0, true, 32};
    case q5_0:
      return CodeLayout{32, 1, 0, 4, 1, 16, false, 32};
    case q5_1:
      return CodeLayout{32, 2, 0, 4, 1, 0, true, 32};
    case q2_k:
      return CodeLayout{256, 2, 16, 2, 0, 0, true, 16};
    case q3_k:
      return CodeLayout{256, 1, 12, 2, 1, 4, false, 16};
    case q4_k:
      return CodeLayout{256, 2, 12, 4, 0, 0, true, 32};
    case q5_k:
      return CodeLayout{256, 2, 12, 4, 1, 0, true, 32};
    case q6_k:
      return CodeLayout{256, 1, 16, 4, 2, 32, false, 16};
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
