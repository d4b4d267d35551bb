#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "spectr/gguf/tensor_type.h"

namespace spectr {

/// The layout of a quantized format in memory. A row consists of super-blocks of `columns` weights: 32, 64 or
/// 256. Each has `f16s` factors of 16 bits (a factor d and, with has_min, a factor of the minima),
/// `scale_bytes` bytes of packed small scales, and one quant per weight. Every `scale_columns` weights share
/// a scale s and a minimum m:
///
///     weight = s · (c − offset) − m        (Q4_1, Q5_1: + m)
///
/// where c is the value that the quant denotes.
struct QuantLayout {
  /// A quant denotes itself, itself as a signed byte, or the number at its index in the format's table
  /// `values`.
  enum class Meaning { unsigned_number, signed_byte, table_index };

  int columns;
  int f16s;
  int scale_bytes = 0;
  int low_bits;  ///< a quant is low_bits + high_bits wide, kept as two planes
  int high_bits = 0;
  int offset = 0;
  bool has_min = false;
  int scale_columns;
  Meaning meaning = Meaning::unsigned_number;

  /// True if c is a signed byte of full range.
  constexpr bool has_signed_bytes() const { return meaning != Meaning::unsigned_number; }
  constexpr int bits() const { return low_bits + high_bits; }
  constexpr int header_bytes() const { return 2 * f16s + scale_bytes; }
  constexpr int bytes() const { return header_bytes() + columns * bits() / 8; }
  constexpr int scales() const { return columns / scale_columns; }
  /// Number of 32-column blocks in a super-block, and of scales in such a block.
  constexpr int blocks() const { return columns / 32; }
  constexpr int scales_per_block() const { return 32 / scale_columns; }
};

/// An unpacked super-block of one row; before it is split, a whole block of a file.
struct QuantBlock {
  std::array<std::uint16_t, 2> f16s;
  std::array<std::uint8_t, 16> scales;
  std::array<std::uint8_t, 256> quants;
};

/// The scale s and the minimum m that `scale_columns` weights share.
struct QuantScale {
  float factor;
  float min = 0;
};

/// Returns the layout of a quantized format; nullopt for all other types.
std::optional<QuantLayout> quant_layout(TensorType type);

/// Unpacks super-block `part` of a block of a file; most formats have only one. Requires: the type is
/// quantized, part < elements of the format / columns of its layout.
void split_block(TensorType type, const std::byte* file, std::size_t part, QuantBlock& block);

/// Sets out[j] to the weight of column j, j < columns, rounded as in the format's definition.
/// Requires: the type is quantized.
void block_values(TensorType type, const QuantBlock& block, float* out);

}  // namespace spectr
