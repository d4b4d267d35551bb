#pragma once

#include <algorithm>
#include <cstdint>

#include "spectr/gguf/f16.h"
#include "spectr/gguf/quant/panel_header.h"
#include "spectr/gguf/quant/quant_layout.h"
#include "spectr/gguf/quant/unpack.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr::quant {

/// Sixteen 6-bit scales, stored plus 32, in 12 bytes. The low nibbles of bytes 0…7 belong to scales 0…7, the
/// high ones to scales 8…15. Byte 8 + i has the high two bits of scales i, i + 4, i + 8, i + 12.
struct Q3_K {
  static constexpr TensorFormat format{TensorType::q3_k, "Q3_K", 256, 110};
  static constexpr QuantLayout layout{.columns = 256,
                                      .f16s = 1,
                                      .scale_bytes = 12,
                                      .low_bits = 2,
                                      .high_bits = 1,
                                      .offset = 4,
                                      .scale_columns = 16};

  /// File layout: 32 bytes of high bits, 64 bytes of low bits, 12 scale bytes, d.
  static void split(const std::uint8_t* file, QuantBlock& block) {
    unpack_256_pairs(file + 32, block.quants.data());
    add_256_bits(file, 2, block.quants.data());
    std::copy_n(file + 96, 12, block.scales.begin());
    block.f16s[0] = bits16(file + 108);
  }

  static QuantScale scale(const QuantBlock& block, int i) {
    const auto& b = block.scales;
    const int low = i < 8 ? b[i] & 15 : b[i - 8] >> 4;
    const int high = b[8 + i % 4] >> (2 * (i / 4)) & 3;
    return {f16_to_float(block.f16s[0]) * static_cast<float>((low | high << 4) - 32)};
  }

  template <class Lanes>
  [[gnu::always_inline]] static void decode_scales(PanelHeader<Lanes> header, Floats<Lanes>* scales,
                                                   Floats<Lanes>*) {
    const auto d = header.f16s(0);
    for (int i = 0; i < 4; ++i) {
      const auto a = header.bytes(i), b = header.bytes(i + 4), high = header.bytes(i + 8);
      scales[i] = times_six_bits<Lanes, 0, -4>(d, a, high);
      scales[i + 4] = times_six_bits<Lanes, 0, -2>(d, b, high);
      scales[i + 8] = times_six_bits<Lanes, 4, 0>(d, a, high);
      scales[i + 12] = times_six_bits<Lanes, 4, 2>(d, b, high);
    }
  }
};

}  // namespace spectr::quant
