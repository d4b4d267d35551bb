#pragma once

#include <algorithm>
#include <cstdint>

#include "spectr/gguf/f16.h"
#include "spectr/gguf/quant/panel_header.h"
#include "spectr/gguf/quant/quant_layout.h"
#include "spectr/gguf/quant/unpack.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr::quant {

/// A byte has a scale in its low nibble and a minimum in its high nibble.
struct Q2_K {
  static constexpr TensorFormat format{TensorType::q2_k, "Q2_K", 256, 84};
  static constexpr QuantLayout layout{
      .columns = 256, .f16s = 2, .scale_bytes = 16, .low_bits = 2, .has_min = true, .scale_columns = 16};

  /// File layout: 16 scale bytes, 64 bytes of quants, d, d of the minima.
  static void split(const std::uint8_t* file, QuantBlock& block) {
    std::copy_n(file, 16, block.scales.begin());
    unpack_256_pairs(file + 16, block.quants.data());
    block.f16s = {bits16(file + 80), bits16(file + 82)};
  }

  static QuantScale scale(const QuantBlock& block, int i) {
    return {f16_to_float(block.f16s[0]) * static_cast<float>(block.scales[i] & 15),
            f16_to_float(block.f16s[1]) * static_cast<float>(block.scales[i] >> 4)};
  }

  template <class Lanes>
  [[gnu::always_inline]] static void decode_scales(PanelHeader<Lanes> header, Floats<Lanes>* scales,
                                                   Floats<Lanes>* mins) {
    const auto d = header.f16s(0), m = header.f16s(1);
    for (int i = 0; i < 16; ++i) {
      const auto both = header.bytes(i);
      scales[i] = times<Lanes>(d, Lanes::template bits<0, 15>(both));
      mins[i] = times<Lanes>(m, Lanes::template bits<4, 15>(both));
    }
  }
};

}  // namespace spectr::quant
