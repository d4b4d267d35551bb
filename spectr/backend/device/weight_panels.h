#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spectr/backend/device/panel_format.h"
#include "spectr/base/thread_pool.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr {

/// A quantized matrix as GPUs read it: panels of 16 rows, blocks of 64 columns. What is missing of the last
/// panel and block has scales of 0.
///
///     codes    [panel][block], of 8 bits as 4 vectors of 16 columns: [vector][row 0 … 15] × 16 bytes. Of 4
///     to
///              6 bits the low four: [2 vectors of 32 columns][row] × 16 bytes, the first 16 columns in the
///              low nibbles; behind them the others, each a plane. Two bits: [row] × 16 bytes, byte i has
///              those of the columns i, 16 + i, 32 + i, 48 + i, the first in the low bits. One bit: [row] ×
///              8 bytes, bit 4 a + b of byte 4 c + d has that of the column 16 b + 8 c + 4 a + d
///     scales   [panel][block][row 0 … 15] words. Formats with one F16 number for 32 columns: those of both
///              halves, the first in the low bits. Formats with small scales and minima: the bytes of the
///              scales of both halves, then those of their minima. Formats with small scales of 16 columns:
///              four signed bytes
///     factors  [panel][four blocks][row 0 … 15] words, of formats with small scales: the F16 numbers that
///              scales and minima are multiplied by
struct WeightPanels {
  static constexpr std::size_t panel_rows = 16, block_columns = 64;

  std::vector<std::uint8_t> codes;
  std::vector<std::uint32_t> scales, factors;
};

/// The formats that there is a layout of.
bool has_device_layout(TensorType type);
/// All of them.
std::span<const TensorType> device_layouts();

/// Requires: has_device_layout(type).
PanelFormat panel_format(TensorType type);

/// Where a code of 4 to 6 bits has its parts in a block of `bits` bits: the low four in byte `low` from bit
/// `low_shift` on, the others in byte `high` from bit `high_shift` on.
struct CodePlace {
  std::size_t low, high;
  unsigned low_shift, high_shift;
};
/// Of row `row` of a panel and column `j` of a block.
CodePlace code_place(int bits, std::size_t row, std::size_t j);

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
