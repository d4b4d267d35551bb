#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spectr/gguf/tensor_type.h"

namespace spectr {

/// A quantized matrix as GPUs read it: panels of 16 rows, blocks of 64 columns. What is missing of the last
/// panel and block has scales of 0.
///
///     codes    [panel][block][vector][row 0 … 15] × 16 bytes. Of 8 bits: 4 vectors of 16 columns each. Of 4
///              bits: 2 of 32 columns, the first 16 in the low nibbles
///     scales   [panel][block][row 0 … 15] words. Formats with one F16 number for 32 columns: those of the
///     two
///              halves, the first in the low bits. Formats with small scales and minima: the bytes of the
///              scales of both halves, then those of their minima
///     factors  [panel][four blocks][row 0 … 15] words, of formats with small scales: the F16 numbers that
///              scales and minima are multiplied by
struct WeightPanels {
  static constexpr std::size_t panel_rows = 16, block_columns = 64;

  std::vector<std::uint8_t> codes;
  std::vector<std::uint32_t> scales, factors;
};

/// The formats that there is a layout of.
bool has_device_layout(TensorType type);

/// How large the parts are, and where they lie one behind the other.
struct PanelLayout {
  std::size_t code_bytes, scale_bytes, factor_bytes;

  /// Requires: has_device_layout(type).
  PanelLayout(TensorType type, std::size_t rows, std::size_t cols);
  std::size_t scales_at() const { return code_bytes; }
  std::size_t factors_at() const { return code_bytes + scale_bytes; }
  std::size_t bytes() const { return factors_at() + factor_bytes; }
};

/// Requires: has_device_layout(type); `file` holds [rows, cols] weights, cols whole super-blocks.
WeightPanels pack_for_device(TensorType type, std::size_t rows, std::size_t cols,
                             std::span<const std::byte> file);

}  // namespace spectr
