#pragma once

#include <algorithm>
#include <cstdint>

#include "spectr/gguf/f16.h"
#include "spectr/gguf/quant/iq4_nl.h"
#include "spectr/gguf/quant/panel_header.h"
#include "spectr/gguf/quant/quant_layout.h"
#include "spectr/gguf/quant/unpack.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr::quant {

/// Eight 6-bit scales, stored plus 32: their high two bits in bytes 0 and 1, their low nibbles in bytes 2…5.
/// Quants are indices into the table of IQ4_NL.
struct IQ4_XS {
  static constexpr TensorFormat format{TensorType::iq4_xs, "IQ4_XS", 256, 136};
  static constexpr QuantLayout layout{.columns = 256,
                                      .f16s = 1,
                                      .scale_bytes = 6,
                                      .low_bits = 4,
                                      .scale_columns = 32,
                                      .meaning = QuantLayout::Meaning::table_index};
  static constexpr const auto& values = IQ4_NL::values;

  /// File layout: d, 2 bytes of high and 4 of low bits of scales, 8 times 16 bytes of nibbles.
  static void split(const std::uint8_t* file, QuantBlock& block) {
    block.f16s[0] = bits16(file);
    std::copy_n(file + 2, 6, block.scales.begin());
    for (std::size_t i = 0; i < 8; ++i) unpack_nibbles(file + 8 + 16 * i, &block.quants[32 * i]);
  }

  static QuantScale scale(const QuantBlock& block, int i) {
    const auto& b = block.scales;
    const int low = b[2 + i / 2] >> (4 * (i % 2)) & 15, high = b[i / 4] >> (2 * (i % 4)) & 3;
    return {f16_to_float(block.f16s[0]) * static_cast<float>((low | high << 4) - 32)};
  }

  template <class Lanes>
  [[gnu::always_inline]] static void decode_scales(PanelHeader<Lanes> header, Floats<Lanes>* scales,
                                                   Floats<Lanes>*) {
    const auto d = header.f16s(0);
    for (int i = 0; i < 2; ++i) {
      const auto high = header.bytes(i), a = header.bytes(2 + 2 * i), b = header.bytes(3 + 2 * i);
      scales[4 * i] = times_six_bits<Lanes, 0, -4>(d, a, high);
      scales[4 * i + 1] = times_six_bits<Lanes, 4, -2>(d, a, high);
      scales[4 * i + 2] = times_six_bits<Lanes, 0, 0>(d, b, high);
      scales[4 * i + 3] = times_six_bits<Lanes, 4, 2>(d, b, high);
    }
  }
};

}  // namespace spectr::quant
