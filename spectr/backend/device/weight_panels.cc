#include "spectr/backend/device/weight_panels.h"

#include <algorithm>
#include <iterator>
#include <utility>

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
    std::uint8_t* const at = to_.codes.data() + block(column) * 128 * static_cast<std::size_t>(bits_);
    const std::size_t j = column % 64;
    if (bits_ == 8) {
      at[(j / 16 * 16 + row_) * 16 + j % 16] = code;
      return;
    }
    const CodePlace place = code_place(bits_, row_, j);
    const auto add = [at](std::size_t byte, unsigned bits) {
      at[byte] = static_cast<std::uint8_t>(at[byte] | bits);
    };
    add(place.low, (code & 15U) << place.low_shift);
    if (bits_ > 4) add(place.high, static_cast<unsigned>(code >> 4) << place.high_shift);
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

/// The bytes of scale i and its minimum: what the format's scale() multiplies.
std::pair<std::uint8_t, std::uint8_t> small_scales(TensorType type, const QuantBlock& block, int i) {
  QuantBlock ones = block;
  ones.f16s = {0x3C00, 0x3C00};
  QuantScale scale = {};
  with_format(type, [&]<class Format>(Format) {
    if constexpr (QuantFormat<Format>) scale = Format::scale(ones, i);
  });
  return {static_cast<std::uint8_t>(static_cast<int>(scale.factor)), static_cast<std::uint8_t>(scale.min)};
}

void pack_row(TensorType type, const QuantLayout& layout, std::size_t row, std::span<const std::byte> file,
              std::size_t cols, WeightPanels& to) {
  Writer writer(to, row, div_up(cols, WeightPanels::block_columns), layout.bits());
  const auto columns = static_cast<std::size_t>(layout.columns);
  const std::byte* next = file.data();
  for (std::size_t column = 0; column < cols; column += columns, next += layout.bytes()) {
    QuantBlock block;
    split_block(type, next, 0, block);
    for (std::size_t j = 0; j < columns; ++j) writer.code(column + j, block.quants[j]);
    if (layout.scale_bytes == 0) {
      writer.scale(column, block.f16s[0], column % 64 / 32 * 16);
      continue;
    }
    writer.factors(column, block.f16s[0], layout.has_min ? block.f16s[1] : 0);
    for (std::size_t i = 0; i < static_cast<std::size_t>(layout.scales()); ++i) {
      const auto [scale, min] = small_scales(type, block, static_cast<int>(i));
      if (layout.has_min) {
        writer.scale(column + 32 * i, scale, i % 2 * 8);
        writer.scale(column + 32 * i, min, 16 + i % 2 * 8);
      } else {
        writer.scale(column + 16 * i, scale, i % 4 * 8);
      }
    }
  }
}

constexpr TensorType layouts[] = {TensorType::q8_0, TensorType::q4_0, TensorType::q5_0,
                                  TensorType::q4_k, TensorType::q5_k, TensorType::q6_k};

}  // namespace

bool has_device_layout(TensorType type) {
  return std::ranges::find(layouts, type) != std::end(layouts);
}

std::span<const TensorType> device_layouts() {
  return layouts;
}

PanelFormat panel_format(TensorType type) {
  SPECTR_CHECK(has_device_layout(type));
  const QuantLayout layout = *quant_layout(type);
  const PanelScales scales = layout.scale_bytes == 0 ? PanelScales::halves
                             : layout.has_min        ? PanelScales::small_and_minima
                                                     : PanelScales::small_of_16;
  return {layout.bits(), layout.offset, scales};
}

CodePlace code_place(int bits, std::size_t row, std::size_t j) {
  const std::size_t vector = j / 16, i = j % 16;
  CodePlace place{.low = (j / 32 * 16 + row) * 16 + i,
                  .high = 512 + row * 16 + i,
                  .low_shift = static_cast<unsigned>(vector % 2 * 4),
                  .high_shift = static_cast<unsigned>(2 * vector)};
  if (bits == 5) {
    place.high = 512 + row * 8 + i / 8 * 4 + i % 4;
    place.high_shift = static_cast<unsigned>(i / 4 % 2 * 4 + vector);
  }
  return place;
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
                             std::span<const std::byte> file, ThreadPool* pool) {
  SPECTR_CHECK(has_device_layout(type));
  const QuantLayout layout = *quant_layout(type);
  const auto columns = static_cast<std::size_t>(layout.columns),
             bytes = static_cast<std::size_t>(layout.bytes());
  SPECTR_CHECK(cols % columns == 0 && file.size() == rows * (cols / columns) * bytes);
  const PanelLayout sizes(type, rows, cols);
  WeightPanels to{.codes = std::vector<std::uint8_t>(sizes.code_bytes),
                  .scales = std::vector<std::uint32_t>(sizes.scale_bytes / sizeof(std::uint32_t)),
                  .factors = std::vector<std::uint32_t>(sizes.factor_bytes / sizeof(std::uint32_t))};
  const auto pack_panels = [&](std::size_t begin, std::size_t end) {
    const std::size_t last = std::min(end * WeightPanels::panel_rows, rows);
    for (std::size_t row = begin * WeightPanels::panel_rows; row < last; ++row) {
      const std::size_t row_bytes = cols / columns * bytes;
      pack_row(type, layout, row, file.subspan(row * row_bytes, row_bytes), cols, to);
    }
  };
  const std::size_t panels = div_up(rows, WeightPanels::panel_rows);
  if (pool != nullptr) {
    pool->parallel_for(panels, 1, pack_panels);
  } else {
    pack_panels(0, panels);
  }
  return to;
}

}  // namespace spectr
