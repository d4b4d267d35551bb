#pragma once

#include <cstdint>

#include "spectr/gguf/f16.h"
#include "spectr/gguf/quant/panel_header.h"
#include "spectr/gguf/quant/quant_layout.h"
#include "spectr/gguf/quant/unpack.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr::quant {

struct Q5_1 {
  static constexpr TensorFormat format{TensorType::q5_1, "Q5_1", 32, 24};
  static constexpr QuantLayout layout{
      .columns = 32, .f16s = 2, .low_bits = 4, .high_bits = 1, .has_min = true, .scale_columns = 32};

  /// File layout: d, the addend (minus the minimum), 4 bytes of high bits, 16 bytes of nibbles.
  static void split(const std::uint8_t* file, QuantBlock& block) {
    block.f16s = {bits16(file), bits16(file + 2)};
    unpack_nibbles(file + 8, block.quants.data());
    add_fifth_bits(file + 4, block.quants.data());
  }

  static QuantScale scale(const QuantBlock& block, int) {
    return {f16_to_float(block.f16s[0]), -f16_to_float(block.f16s[1])};
  }

  template <class Lanes>
  [[gnu::always_inline]] static void decode_scales(PanelHeader<Lanes> header, Floats<Lanes>* scales,
                                                   Floats<Lanes>* mins) {
    scales[0] = header.f16s(0);
    mins[0] = Lanes::negate(header.f16s(1));
  }
};

}  // namespace spectr::quant
