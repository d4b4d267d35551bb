#pragma once

#include <algorithm>
#include <cstdint>

#include "spectr/gguf/f16.h"
#include "spectr/gguf/quant/panel_header.h"
#include "spectr/gguf/quant/quant_layout.h"
#include "spectr/gguf/quant/unpack.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr::quant {

/// Scales are signed bytes.
struct Q6_K {
  static constexpr TensorFormat format{TensorType::q6_k, "Q6_K", 256, 210};
  static constexpr QuantLayout layout{.columns = 256,
                                      .f16s = 1,
                                      .scale_bytes = 16,
                                      .low_bits = 4,
                                      .high_bits = 2,
                                      .offset = 32,
                                      .scale_columns = 16};

  /// File layout: 128 bytes of nibbles, 64 bytes of high bit pairs, 16 scales, d. In the half 128a … 128a +
  /// 127, the nibbles of byte 64a + l, l < 64, belong to quants 128a + l and 128a + 64 + l.
  static void split(const std::uint8_t* file, QuantBlock& block) {
    const std::uint8_t* const pairs = file + 128;
    for (int j = 0; j < 256; ++j) {
      const int a = j / 128;
      const int low = file[64 * a + j % 64] >> (4 * (j % 128 / 64)) & 15;
      const int high = pairs[32 * a + j % 32] >> (2 * (j % 128 / 32)) & 3;
      block.quants[j] = static_cast<std::uint8_t>(low | high << 4);
    }
    std::copy_n(file + 192, 16, block.scales.begin());
    block.f16s[0] = bits16(file + 208);
  }

  static QuantScale scale(const QuantBlock& block, int i) {
    return {f16_to_float(block.f16s[0]) * static_cast<float>(static_cast<std::int8_t>(block.scales[i]))};
  }

  template <class Lanes>
  [[gnu::always_inline]] static void decode_scales(PanelHeader<Lanes> header, Floats<Lanes>* scales,
                                                   Floats<Lanes>*) {
    const auto d = header.f16s(0);
    for (int i = 0; i < 16; ++i) scales[i] = times<Lanes>(d, header.signed_bytes(i));
  }
};

}  // namespace spectr::quant
