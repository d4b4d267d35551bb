#pragma once

#include <algorithm>
#include <cstdint>

#include "spectr/gguf/f16.h"
#include "spectr/gguf/quant/panel_header.h"
#include "spectr/gguf/quant/quant_layout.h"
#include "spectr/gguf/quant/unpack.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr::quant {

struct Q8_0 {
  static constexpr TensorFormat format{TensorType::q8_0, "Q8_0", 32, 34};
  static constexpr QuantLayout layout{.columns = 32,
                                      .f16s = 1,
                                      .low_bits = 8,
                                      .scale_columns = 32,
                                      .meaning = QuantLayout::Meaning::signed_byte};

  /// File layout: d, 32 quants.
  static void split(const std::uint8_t* file, QuantBlock& block) {
    block.f16s[0] = bits16(file);
    std::copy_n(file + 2, 32, block.quants.begin());
  }

  static QuantScale scale(const QuantBlock& block, int) { return {f16_to_float(block.f16s[0])}; }

  template <class Lanes>
  [[gnu::always_inline]] static void decode_scales(PanelHeader<Lanes> header, Floats<Lanes>* scales,
                                                   Floats<Lanes>*) {
    scales[0] = header.f16s(0);
  }
};

}  // namespace spectr::quant
