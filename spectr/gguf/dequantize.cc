#include "spectr/gguf/dequantize.h"

#include "spectr/base/check.h"
#include "spectr/gguf/quant/formats.h"
#include "spectr/gguf/quant/quant_layout.h"

namespace spectr {

void dequantize(TensorType type, std::span<const std::byte> bytes, std::span<float> out) {
  const TensorFormat& format = format_of(type);
  SPECTR_CHECK(out.size() % format.elements == 0);
  SPECTR_CHECK(bytes.size() == out.size() / format.elements * format.bytes);
  const std::byte* file = bytes.data();
  if (format.is_quantized()) {
    const auto columns = static_cast<std::size_t>(quant_layout(type)->columns);
    QuantBlock block{};
    for (std::size_t j = 0; j < out.size(); j += columns) {
      split_block(type, file + j / format.elements * format.bytes, j % format.elements / columns, block);
      block_values(type, block, out.data() + j);
    }
    return;
  }
  with_format(type, [&]<class Format>(Format) {
    if constexpr (PlainFormat<Format>) {
      for (std::size_t j = 0; j < out.size(); ++j) out[j] = Format::value(file + j * Format::format.bytes);
    }
  });
}

}  // namespace spectr
