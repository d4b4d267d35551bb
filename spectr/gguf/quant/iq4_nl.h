#pragma once

#include <array>
#include <cstdint>

#include "spectr/gguf/f16.h"
#include "spectr/gguf/quant/panel_header.h"
#include "spectr/gguf/quant/quant_layout.h"
#include "spectr/gguf/quant/unpack.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr::quant {

struct IQ4_NL {
  static constexpr TensorFormat format{TensorType::iq4_nl, "IQ4_NL", 32, 18};
  static constexpr QuantLayout layout{.columns = 32,
                                      .f16s = 1,
                                      .low_bits = 4,
                                      .scale_columns = 32,
                                      .meaning = QuantLayout::Meaning::table_index};

  /// Values of the quants, denser where weights are more frequent. They are those of llama.cpp, which defines
  /// the format.
  alignas(16) static constexpr std::array<std::int8_t, 16> values = {
      -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

  /// File layout: d, 16 bytes of nibbles.
  static void split(const std::uint8_t* file, QuantBlock& block) {
    block.f16s[0] = bits16(file);
    unpack_nibbles(file + 2, block.quants.data());
  }

  static QuantScale scale(const QuantBlock& block, int) { return {f16_to_float(block.f16s[0])}; }

  template <class Lanes>
  [[gnu::always_inline]] static void decode_scales(PanelHeader<Lanes> header, Floats<Lanes>* scales,
                                                   Floats<Lanes>*) {
    scales[0] = header.f16s(0);
  }
};

}  // namespace spectr::quant
