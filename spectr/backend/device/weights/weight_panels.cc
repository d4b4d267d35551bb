#include "spectr/backend/device/weights/weight_panels.h"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/base/numeric.h"
#include "spectr/gguf/f16.h"
#include "spectr/gguf/quant/formats.h"

namespace spectr {
namespace {

template <class Format>
constexpr PanelScales scales_of() {
  using enum PanelScales;
  constexpr QuantLayout layout = Format::layout;
  static_assert(layout.scale_columns == 16 || layout.scale_columns == 32);
  if (layout.scale_columns == 16) return layout.has_min ? nibbles_of_16 : small_of_16;
  if (layout.f16s == 0) return upper_halves;
  if (layout.scale_bytes == 0) return layout.has_min ? halves_and_minima : halves;
  return layout.has_min ? small_and_minima : small;
}

/// Codes with an offset and fewer than 4 bits also use a table, like those of non-uniform grids.
template <class Format>
constexpr PanelFormat panel_format_of() {
  constexpr QuantLayout layout = Format::layout;
  constexpr bool names_values = layout.meaning == QuantLayout::Meaning::table_index;
  PanelFormat format{.bits = layout.bits(),
                     .offset = layout.offset,
                     .has_table = names_values || (layout.bits() < 4 && layout.offset > 0),
                     .table = {},
                     .scales = scales_of<Format>()};
  if (!format.has_table) return format;
  for (int c = 0; c < 1 << layout.bits(); ++c) {
    int value = c - layout.offset;
    if constexpr (names_values) value = Format::values[static_cast<std::size_t>(c)];
    format.table[c / 4] |= std::uint32_t{static_cast<std::uint8_t>(value)} << c % 4 * 8;
  }
  format.offset = 0;
  return format;
}

/// The unit of small scales as a fraction of d: dividing by it makes them integers.
template <class Format>
constexpr float unit = std::is_base_of_v<quant::EightNumbers, Format>     ? 1.0f / 8
                       : std::is_base_of_v<quant::SixteenNumbers, Format> ? 1.0f / 4
                                                                          : 1.0f;

/// Writes one row of a matrix into its panel.
template <class Format>
class Writer {
 public:
  Writer(WeightPanels& to, std::size_t row, std::size_t blocks)
      : to_(to),
        panel_(row / WeightPanels::panel_rows),
        row_(row % WeightPanels::panel_rows),
        blocks_(blocks) {}

  void code(std::size_t column, std::uint8_t code) {
    constexpr int bits = format.bits;
    std::uint8_t* const at = to_.codes.data() + block(column) * 128 * std::size_t{bits};
    for (const CodePart& part : code_parts(bits, row_, column % 64)) {
      const unsigned mine = static_cast<unsigned>(code >> part.first) & ((1U << part.bits) - 1);
      if (part.bits > 0) at[part.byte] = static_cast<std::uint8_t>(at[part.byte] | mine << part.shift);
    }
  }

  /// Writes scale `i` of `from`, which applies to the columns from `column` on.
  void scale(std::size_t column, const QuantBlock& from, int i) {
    using enum PanelScales;
    const std::size_t half = column % 64 / 32, quarter = column % 64 / 16;
    if constexpr (format.scales == halves || format.scales == halves_and_minima)
      add(column, 0, from.f16s[0], 16 * half);
    if constexpr (format.scales == halves_and_minima)  // the file's minima are added
      add(column, 1, from.f16s[1] ^ 0x8000U, 16 * half);
    if constexpr (format.scales == upper_halves) {
      const auto bits = std::bit_cast<std::uint32_t>(Format::scale(from, i).factor);
      SPECTR_CHECK((bits & 0xffff) == 0);
      add(column, 0, bits >> 16, 16 * half);
    }
    if constexpr (has_factors(format.scales)) {
      const auto [scale, min] = small_scale(from, i);
      if constexpr (format.scales == small || format.scales == small_and_minima)
        add(column, 0, scale, 8 * half);
      if constexpr (format.scales == small_and_minima) add(column, 0, min, 16 + 8 * half);
      if constexpr (format.scales == small_of_16) add(column, 0, scale, 8 * quarter);
      if constexpr (format.scales == nibbles_of_16)
        add(column, 0, scale | std::uint32_t{min} << 4, 8 * quarter);
      to_.factors[block(column) / 4 * 16 + row_] = factors_of(from);
    }
  }

 private:
  static constexpr PanelFormat format = panel_format_of<Format>();

  std::size_t block(std::size_t column) const { return panel_ * blocks_ + column / 64; }

  /// Sets the bits from `shift` on of a scale word of the block.
  void add(std::size_t column, std::size_t word, std::uint32_t bits, std::size_t shift) {
    constexpr std::size_t words{scale_words(format.scales)};
    to_.scales[(block(column) * words + word) * 16 + row_] |= bits << shift;
  }

  /// Returns small scale i and its minimum as bytes: the integer arguments of the format's scale().
  static std::pair<std::uint8_t, std::uint8_t> small_scale(QuantBlock block, int i) {
    block.f16s = {0x3C00, 0x3C00};
    const QuantScale scale = Format::scale(block, i);
    return {static_cast<std::uint8_t>(static_cast<int>(scale.factor / unit<Format>)),
            static_cast<std::uint8_t>(scale.min)};
  }
  static std::uint32_t factors_of(const QuantBlock& block) {
    if constexpr (has_minima(format.scales)) return block.f16s[0] | std::uint32_t{block.f16s[1]} << 16;
    return std::bit_cast<std::uint32_t>(f16_to_float(block.f16s[0]) * unit<Format>);
  }

  WeightPanels& to_;
  std::size_t panel_, row_, blocks_;
};

template <class Format>
void pack_row(std::size_t row, std::span<const std::byte> file, std::size_t cols, WeightPanels& to) {
  constexpr TensorFormat format = Format::format;
  constexpr std::size_t shared{Format::layout.scale_columns};
  Writer<Format> writer(to, row, div_up(cols, WeightPanels::block_columns));
  const auto* next = reinterpret_cast<const std::uint8_t*>(file.data());
  for (std::size_t column = 0; column < cols; column += format.elements, next += format.bytes) {
    QuantBlock block;
    Format::split(next, block);
    for (std::size_t j = 0; j < format.elements; ++j) writer.code(column + j, block.quants[j]);
    for (std::size_t i = 0; i < format.elements / shared; ++i)
      writer.scale(column + shared * i, block, static_cast<int>(i) % Format::layout.scales());
  }
}

}  // namespace

bool has_device_layout(TensorType type) {
  return quant_layout(type).has_value();
}

std::span<const TensorType> device_layouts() {
  static const std::vector<TensorType> all = [] {
    std::vector<TensorType> types;
    for (const TensorFormat& format : tensor_formats()) {
      if (has_device_layout(format.type)) types.push_back(format.type);
    }
    return types;
  }();
  return all;
}

PanelFormat panel_format(TensorType type) {
  SPECTR_CHECK(has_device_layout(type));
  PanelFormat found = {};
  with_format(type, [&]<class Format>(Format) {
    if constexpr (QuantFormat<Format>) found = panel_format_of<Format>();
  });
  return found;
}

PanelLayout::PanelLayout(TensorType type, std::size_t rows, std::size_t cols) {
  SPECTR_CHECK(has_device_layout(type));
  const PanelFormat format = panel_format(type);
  const std::size_t blocks =
      div_up(rows, WeightPanels::panel_rows) * div_up(cols, WeightPanels::block_columns);
  code_bytes = blocks * 128 * static_cast<std::size_t>(format.bits);
  scale_bytes = blocks * 16 * static_cast<std::size_t>(scale_words(format.scales)) * sizeof(std::uint32_t);
  factor_bytes = has_factors(format.scales) ? blocks / 4 * 16 * sizeof(std::uint32_t) : 0;
}

WeightPanels pack_for_device(TensorType type, std::size_t rows, std::size_t cols,
                             std::span<const std::byte> file, ThreadPool* pool) {
  SPECTR_CHECK(has_device_layout(type));
  const TensorFormat& format = format_of(type);
  const std::size_t row_bytes = cols / format.elements * format.bytes;
  SPECTR_CHECK(cols % format.elements == 0 && file.size() == rows * row_bytes);
  const PanelLayout sizes(type, rows, cols);
  WeightPanels to{.codes = std::vector<std::uint8_t>(sizes.code_bytes),
                  .scales = std::vector<std::uint32_t>(sizes.scale_bytes / sizeof(std::uint32_t)),
                  .factors = std::vector<std::uint32_t>(sizes.factor_bytes / sizeof(std::uint32_t))};
  const auto pack_panels = [&](std::size_t begin, std::size_t end) {
    const std::size_t last = std::min(end * WeightPanels::panel_rows, rows);
    with_format(type, [&]<class Format>(Format) {
      if constexpr (QuantFormat<Format>) {
        for (std::size_t row = begin * WeightPanels::panel_rows; row < last; ++row)
          pack_row<Format>(row, file.subspan(row * row_bytes, row_bytes), cols, to);
      }
    });
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
