#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spectr/backend/device/weights/panel_format.h"
#include "spectr/base/thread_pool.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr {

/// A quantized matrix in the layout that GPU kernels read: panels of 16 rows, blocks of 64 columns. Padding
/// of the last panel and block has zero scales. PanelFormat describes a format's components.
///
///     codes    [panel][block]: bit planes, one for each power of two in the number of bits, the widest
///              first; it has the lowest bits. 8 bits: [4 vectors of 16 columns][row 0 … 15] × 16
///              bytes.
///              4 bits: [2 vectors of 32 columns][row] × 16 bytes, the first 16 columns in the low nibbles.
///              2 bits: [row] × 16 bytes, byte i has columns i, 16 + i, 32 + i and 48 + i, the
///              first in the low bits. 1 bit: [row] × 8 bytes, bit 4 a + b of byte 4 c + d has column
///              16 b + 8 c + 4 a + d
///     scales   [panel][block][word][row 0 … 15] words. 16-bit scales: those of both halves, the first in
///              the low bits, then a second word with the minima, if any. Small scales: one byte for each
///              half, then the bytes of their minima; or four bytes, one per 16 columns
///     factors  [panel][four blocks][row 0 … 15] words, for small scales: an f32; or, with minima, two
///              F16 numbers, the factors of the scales and of the minima
///
/// Minima are always subtracted, independent of the file's convention.
struct WeightPanels {
  static constexpr std::size_t panel_rows = 16, block_columns = 64;

  std::vector<std::uint8_t> codes;
  std::vector<std::uint32_t> scales, factors;
};

/// Returns true if the format has a panel layout, as all quantized formats do.
bool has_device_layout(TensorType type);
/// Returns all formats with a panel layout, ordered by their ids in files.
std::span<const TensorType> device_layouts();

/// Requires: has_device_layout(type).
PanelFormat panel_format(TensorType type);

/// A plane's part of a code: bits [first, first + bits) are in byte `byte` of its block, from bit `shift`.
struct CodePart {
  int bits, first;
  std::size_t byte;
  unsigned shift;
};
/// Returns the parts of the code in row `row` of a panel and column `j` of a block. Parts that a number of
/// bits does not use have 0 bits.
constexpr std::array<CodePart, 4> code_parts(int bits, std::size_t row, std::size_t j) {
  const std::size_t vector = j / 16, i = j % 16;
  const auto shift = [](std::size_t by) { return static_cast<unsigned>(by); };
  std::array<CodePart, 4> parts = {{{8, 0, (vector * 16 + row) * 16 + i, 0},
                                    {4, 0, (vector / 2 * 16 + row) * 16 + i, shift(vector % 2 * 4)},
                                    {2, 0, row * 16 + i, shift(2 * vector)},
                                    {1, 0, row * 8 + i / 8 * 4 + i % 4, shift(i / 4 % 2 * 4 + vector)}}};
  int first = 0;
  for (CodePart& part : parts) {
    part.bits &= bits;
    part.first = first;
    part.byte += 128 * static_cast<std::size_t>(first);
    first += part.bits;
  }
  return parts;
}

/// Sizes and offsets of the components, which are contiguous.
struct PanelLayout {
  std::size_t code_bytes, scale_bytes, factor_bytes;

  /// Requires: has_device_layout(type).
  PanelLayout(TensorType type, std::size_t rows, std::size_t cols);
  std::size_t scales_at() const { return code_bytes; }
  std::size_t factors_at() const { return code_bytes + scale_bytes; }
  std::size_t bytes() const { return factors_at() + factor_bytes; }
};

/// Packs a matrix. `pool`, if given, runs the work in parallel. Requires: has_device_layout(type); `file`
/// holds [rows, cols] weights, and cols is a multiple of the super-block size.
WeightPanels pack_for_device(TensorType type, std::size_t rows, std::size_t cols,
                             std::span<const std::byte> file, ThreadPool* pool = nullptr);

}  // namespace spectr
