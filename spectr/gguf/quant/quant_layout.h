#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "spectr/gguf/tensor_type.h"

namespace spectr {

/// What a quantized format consists of in memory. A row is super-blocks of `columns` weights, 32, 64 or 256
/// of them. Each has `f16s` factors of 16 bits (a factor d and, where has_min, a factor of the minima),
/// `scale_bytes` bytes of packed small scales, and one quant per weight. Every `scale_columns` weights share
/// a scale s and a minimum m:
///
///     weight = s · (c − offset) − m        (Q4_1, Q5_1: + m)
///
/// where c is what the quant stands for.
struct QuantLayout {
  /// A quant stands for itself, for itself as a signed byte, or for the number at its index in the table
  /// `values` of the format.
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

  /// Whether c is a signed byte of full range.
  constexpr bool has_signed_bytes() const { return meaning != Meaning::unsigned_number; }
  constexpr int bits() const { return low_bits + high_bits; }
  constexpr int header_bytes() const { return 2 * f16s + scale_bytes; }
  constexpr int bytes() const { return header_bytes() + columns * bits() / 8; }
  constexpr int scales() const { return columns / scale_columns; }
  /// Blocks of 32 columns in a super-block, and scales in a block.
  constexpr int blocks() const { return columns / 32; }
  constexpr int scales_per_block() const { return 32 / scale_columns; }
};

/// A super-block of one row, taken apart; while it is made, a whole block of a file.
struct QuantBlock {
  std::array<std::uint16_t, 2> f16s;
  std::array<std::uint8_t, 16> scales;
  std::array<std::uint8_t, 256> quants;
};

/// What `scale_columns` weights share: a scale s and a minimum m.
struct QuantScale {
  float factor;
  float min = 0;
};

/// The layout of a quantized format; nullopt for all other types.
std::optional<QuantLayout> quant_layout(TensorType type);

/// Takes super-block `part` of a block of a file apart: most formats have one. Requires: the type is
/// quantized, part < elements of the format / columns of its layout.
void split_block(TensorType type, const std::byte* file, std::size_t part, QuantBlock& block);

/// out[j] = the weight of column j, j < columns, rounded as the format's definition rounds it.
/// Requires: the type is quantized.
void block_values(TensorType type, const QuantBlock& block, float* out);

}  // namespace spectr
