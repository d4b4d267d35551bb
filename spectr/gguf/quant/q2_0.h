#pragma once

#include <cstdint>

#include "spectr/gguf/f16.h"
#include "spectr/gguf/quant/panel_header.h"
#include "spectr/gguf/quant/quant_layout.h"
#include "spectr/gguf/quant/unpack.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr::quant {

/// Numbers are −d, 0, d or 2d. All formats of such numbers are kept so, however few bits their files use.
struct Q2_0 {
  static constexpr TensorFormat format{TensorType::q2_0, "Q2_0", 64, 18};
  static constexpr QuantLayout layout{
      .columns = 64, .f16s = 1, .low_bits = 2, .offset = 1, .scale_columns = 32};

  /// File layout: d, 16 bytes of four quants each, from low to high.
  static void split(const std::uint8_t* file, QuantBlock& block) {
    block.f16s[0] = bits16(file);
    for (int j = 0; j < 64; ++j) block.quants[j] = file[2 + j / 4] >> (2 * (j % 4)) & 3;
  }

  static QuantScale scale(const QuantBlock& block, int) { return {f16_to_float(block.f16s[0])}; }

  template <class Lanes>
  [[gnu::always_inline]] static void decode_scales(PanelHeader<Lanes> header, Floats<Lanes>* scales,
                                                   Floats<Lanes>*) {
    scales[0] = scales[1] = header.f16s(0);
  }
};

}  // namespace spectr::quant
