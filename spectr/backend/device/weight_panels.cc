#include "spectr/backend/device/weight_panels.h"

#include "spectr/base/check.h"
#include "spectr/base/numeric.h"
#include "spectr/gguf/quant/formats.h"

namespace spectr {
namespace {

/// Where row `row` of a panel has its columns in a block, and what of it is written.
class Writer {
 public:
  Writer(WeightPanels& to, std::size_t row, std::size_t blocks, int bits)
      : to_(to),
        panel_(row / WeightPanels::panel_rows),
        row_(row % WeightPanels::panel_rows),
        blocks_(blocks),
        bits_(bits) {}

  void code(std::size_t column, std::uint8_t code) {
    const std::size_t at = block(column), j = column % 64;
    if (bits_ == 8) {
      to_.codes[((at * 4 + j / 16) * 16 + row_) * 16 + j % 16] = code;
    } else {
      std::uint8_t& byte = to_.codes[((at * 2 + j / 32) * 16 + row_) * 16 + j % 16];
      byte = static_cast<std::uint8_t>(byte | code << (j % 32 / 16 * 4));
    }
  }
  /// `bits` from `shift` on of the block's word.
  void scale(std::size_t column, std::uint32_t bits, std::size_t shift) {
    to_.scales[block(column) * 16 + row_] |= bits << shift;
  }
  void factors(std::size_t column, std::uint32_t d, std::uint32_t min) {
    to_.factors[block(column) / 4 * 16 + row_] = d | min << 16;
  }

 private:
  std::size_t block(std::size_t column) const { return panel_ * blocks_ + column / 64; }

  WeightPanels& to_;
  std::size_t panel_, row_, blocks_;
  int bits_;
};

/// The bytes of scale i and its minimum: what Q4_K::scale() multiplies.
std::pair<std::uint8_t, std::uint8_t> small_scales(const QuantBlock& block, int i) {
  QuantBlock ones = block;
  ones.f16s = {0x3C00, 0x3C00};
  const QuantScale scale = quant::Q4_K::scale(ones, i);
  return {static_cast<std::uint8_t>(scale.factor), static_cast<std::uint8_t>(scale.min)};
}

}  // namespace

bool has_device_layout(TensorType type) {
  return type == TensorType::q8_0 || type == TensorType::q4_0 || type == TensorType::q4_k;
}

PanelLayout::PanelLayout(TensorType type, std::size_t rows, std::size_t cols) {
  SPECTR_CHECK(has_device_layout(type));
  const QuantLayout layout = *quant_layout(type);
  const std::size_t blocks =
      div_up(rows, WeightPanels::panel_rows) * div_up(cols, WeightPanels::block_columns);
  code_bytes = blocks * 128 * static_cast<std::size_t>(layout.bits());
  scale_bytes = blocks * 16 * sizeof(std::uint32_t);
  factor_bytes = layout.scale_bytes > 0 ? blocks / 4 * 16 * sizeof(std::uint32_t) : 0;
}

WeightPanels pack_for_device(TensorType type, std::size_t rows, std::size_t cols,
                             std::span<const std::byte> file) {
  SPECTR_CHECK(has_device_layout(type));
  const QuantLayout layout = *quant_layout(type);
  const auto columns = static_cast<std::size_t>(layout.columns),
             bytes = static_cast<std::size_t>(layout.bytes());
  SPECTR_CHECK(cols % columns == 0 && file.size() == rows * (cols / columns) * bytes);
  const std::size_t blocks = div_up(cols, WeightPanels::block_columns);
  const PanelLayout sizes(type, rows, cols);
  WeightPanels to{.codes = std::vector<std::uint8_t>(sizes.code_bytes),
                  .scales = std::vector<std::uint32_t>(sizes.scale_bytes / sizeof(std::uint32_t)),
                  .factors = std::vector<std::uint32_t>(sizes.factor_bytes / sizeof(std::uint32_t))};
  const std::byte* next = file.data();
  for (std::size_t row = 0; row < rows; ++row) {
    Writer writer(to, row, blocks, layout.bits());
    for (std::size_t column = 0; column < cols; column += columns, next += bytes) {
      QuantBlock block;
      split_block(type, next, 0, block);
      for (std::size_t j = 0; j < columns; ++j) writer.code(column + j, block.quants[j]);
      if (layout.scale_bytes == 0) {
        writer.scale(column, block.f16s[0], column % 64 / 32 * 16);
        continue;
      }
      writer.factors(column, block.f16s[0], block.f16s[1]);
      for (std::size_t i = 0; i < 8; ++i) {
        const auto [scale, min] = small_scales(block, static_cast<int>(i));
        writer.scale(column + 32 * i, scale, i % 2 * 8);
        writer.scale(column + 32 * i, min, 16 + i % 2 * 8);
      }
    }
  }
  return to;
}

}  // namespace spectr
