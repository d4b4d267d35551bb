#include "spectr/gguf/quant/quant_layout.h"

#include <algorithm>

#include "spectr/base/check.h"
#include "spectr/gguf/quant/formats.h"

namespace spectr {
namespace {

/// Returns the value that a quant of the format denotes.
template <class Format>
int meaning_of(std::uint8_t quant) {
  using enum QuantLayout::Meaning;
  if constexpr (Format::layout.meaning == signed_byte) return static_cast<std::int8_t>(quant);
  if constexpr (Format::layout.meaning == table_index) return Format::values[quant];
  return quant;
}

template <class Format>
void values_of(const QuantBlock& block, float* out) {
  constexpr QuantLayout layout = Format::layout;
  for (int i = 0; i < layout.scales(); ++i) {
    const QuantScale scale = Format::scale(block, i);
    for (int j = i * layout.scale_columns; j < (i + 1) * layout.scale_columns; ++j) {
      const float value =
          scale.factor * static_cast<float>(meaning_of<Format>(block.quants[j]) - layout.offset);
      out[j] = layout.has_min ? value - scale.min : value;
    }
  }
}

/// Calls use(Format()) for the quantized format of this type. Requires: the type is quantized.
template <class Use>
void with_quant_format(TensorType type, const Use& use) {
  SPECTR_CHECK(quant_layout(type).has_value());
  with_format(type, [&]<class Format>(Format format) {
    if constexpr (QuantFormat<Format>) use(format);
  });
}

}  // namespace

std::optional<QuantLayout> quant_layout(TensorType type) {
  std::optional<QuantLayout> layout;
  with_format(type, [&]<class Format>(Format) {
    if constexpr (QuantFormat<Format>) layout = Format::layout;
  });
  return layout;
}

void split_block(TensorType type, const std::byte* file, std::size_t part, QuantBlock& block) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(file);
  with_quant_format(type, [&]<class Format>(Format) {
    constexpr std::size_t columns{Format::layout.columns};
    SPECTR_CHECK(part < parts_of<Format>);
    Format::split(bytes, block);
    if (part > 0) std::copy_n(block.quants.begin() + part * columns, columns, block.quants.begin());
  });
}

void block_values(TensorType type, const QuantBlock& block, float* out) {
  with_quant_format(type, [&]<class Format>(Format) { values_of<Format>(block, out); });
}

}  // namespace spectr
