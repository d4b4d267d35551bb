#pragma once

#include <algorithm>
#include <cstdint>

#include "spectr/gguf/quant/panel_header.h"
#include "spectr/gguf/quant/q4_k.h"
#include "spectr/gguf/quant/quant_layout.h"
#include "spectr/gguf/quant/unpack.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr::quant {

/// Scales and minima are packed as in Q4_K.
struct Q5_K {
  static constexpr TensorFormat format{TensorType::q5_k, "Q5_K", 256, 176};
  static constexpr QuantLayout layout{.columns = 256,
                                      .f16s = 2,
                                      .scale_bytes = 12,
                                      .low_bits = 4,
                                      .high_bits = 1,
                                      .has_min = true,
                                      .scale_columns = 32};

  /// File layout: d, d of the minima, 12 scale bytes, 32 bytes of high bits, 128 bytes of nibbles.
  static void split(const std::uint8_t* file, QuantBlock& block) {
    block.f16s = {bits16(file), bits16(file + 2)};
    std::copy_n(file + 4, 12, block.scales.begin());
    unpack_256_nibbles(file + 48, block.quants.data());
    add_256_bits(file + 16, 4, block.quants.data());
  }

  static QuantScale scale(const QuantBlock& block, int i) { return Q4_K::scale(block, i); }

  template <class Lanes>
  [[gnu::always_inline]] static void decode_scales(PanelHeader<Lanes> header, Floats<Lanes>* scales,
                                                   Floats<Lanes>* mins) {
    Q4_K::decode_scales<Lanes>(header, scales, mins);
  }
};

}  // namespace spectr::quant
