#pragma once

#include <cstdint>

#include "spectr/gguf/f16.h"
#include "spectr/gguf/quant/panel_header.h"
#include "spectr/gguf/quant/quant_layout.h"
#include "spectr/gguf/quant/unpack.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr::quant {

struct Q5_0 {
  static constexpr TensorFormat format{TensorType::q5_0, "Q5_0", 32, 22};
  static constexpr QuantLayout layout{
      .columns = 32, .f16s = 1, .low_bits = 4, .high_bits = 1, .offset = 16, .scale_columns = 32};

  /// File layout: d, 4 bytes of high bits, 16 bytes of nibbles.
  static void split(const std::uint8_t* file, QuantBlock& block) {
    block.f16s[0] = bits16(file);
    unpack_nibbles(file + 6, block.quants.data());
    add_fifth_bits(file + 2, block.quants.data());
  }

  static QuantScale scale(const QuantBlock& block, int) { return {f16_to_float(block.f16s[0])}; }

  template <class Lanes>
  [[gnu::always_inline]] static void decode_scales(PanelHeader<Lanes> header, Floats<Lanes>* scales,
                                                   Floats<Lanes>*) {
    scales[0] = header.f16s(0);
  }
};

}  // namespace spectr::quant
