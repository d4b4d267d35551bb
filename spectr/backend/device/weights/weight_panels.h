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

/// A quantized matrix as GPUs read it: panels of 16 rows, blocks of 64 columns. What is missing of the last
/// panel and block has scales of 0. PanelFormat says what a format has.
///
///     codes    [panel][block]: the bits of a code in planes, one for each digit 1 of their number, the
///              widest first and with the lowest bits. 8 bits: [4 vectors of 16 columns][row 0 … 15] × 16
///              bytes.
///              4 bits: [2 vectors of 32 columns][row] × 16 bytes, the first 16 columns in the low nibbles.
///              2 bits: [row] × 16 bytes, byte i has those of the columns i, 16 + i, 32 + i, 48 + i, the
///              first in the low bits. 1 bit: [row] × 8 bytes, bit 4 a + b of byte 4 c + d has that of the
///              column 16 b + 8 c + 4 a + d
///     scales   [panel][block][word][row 0 … 15] words. Of 16 bits: those of both halves, the first in the
///              low bits; and a second word of minima. Small ones: the bytes of the scales of both halves,
///              then those of their minima; of 16 columns: four bytes
///     factors  [panel][four blocks][row 0 … 15] words, of small scales: a float; or, with minima, the F16
///              numbers that scales and minima are multiplied by
///
/// Minima are what is taken off, whatever the file says.
struct WeightPanels {
  static constexpr std::size_t panel_rows = 16, block_columns = 64;

  std::vector<std::uint8_t> codes;
  std::vector<std::uint32_t> scales, factors;
};

/// Whether there is a layout of the format: of every quantized one.
bool has_device_layout(TensorType type);
/// All that have one, by their numbers in files.
std::span<const TensorType> device_layouts();

/// Requires: has_device_layout(type).
PanelFormat panel_format(TensorType type);

/// Of a code the `bits` bits from bit `first` on are in byte `byte` of its block, from bit `shift` on.
struct CodePart {
  int bits, first;
  std::size_t byte;
  unsigned shift;
};
/// The parts of the code of row `row` of a panel and column `j` of a block; those that a number of bits does
/// not have are of 0 bits.
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

/// How large the parts are, and where they lie one behind the other.
struct PanelLayout {
  std::size_t code_bytes, scale_bytes, factor_bytes;

  /// Requires: has_device_layout(type).
  PanelLayout(TensorType type, std::size_t rows, std::size_t cols);
  std::size_t scales_at() const { return code_bytes; }
  std::size_t factors_at() const { return code_bytes + scale_bytes; }
  std::size_t bytes() const { return factors_at() + factor_bytes; }
};

/// Requires: has_device_layout(type); `file` holds [rows, cols] weights, cols whole super-blocks. `pool`
/// shares the work, where there is one.
WeightPanels pack_for_device(TensorType type, std::size_t rows, std::size_t cols,
                             std::span<const std::byte> file, ThreadPool* pool = nullptr);

}  // namespace spectr
