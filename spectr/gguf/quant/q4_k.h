#pragma once

#include <algorithm>
#include <cstdint>

#include "spectr/gguf/f16.h"
#include "spectr/gguf/quant/panel_header.h"
#include "spectr/gguf/quant/quant_layout.h"
#include "spectr/gguf/quant/unpack.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr::quant {

/// Eight pairs (scale, minimum) of 6 bits in 12 bytes: the first four in the low 6 bits of bytes 0…3 and 4…7;
/// the others' low nibbles in bytes 8…11, and their high bits in the high two bits of bytes 0…7.
struct Q4_K {
  static constexpr TensorFormat format{TensorType::q4_k, "Q4_K", 256, 144};
  static constexpr QuantLayout layout{
      .columns = 256, .f16s = 2, .scale_bytes = 12, .low_bits = 4, .has_min = true, .scale_columns = 32};

  /// File layout: d, d of the minima, 12 scale bytes, 128 bytes of nibbles.
  static void split(const std::uint8_t* file, QuantBlock& block) {
    block.f16s = {bits16(file), bits16(file + 2)};
    std::copy_n(file + 4, 12, block.scales.begin());
    unpack_256_nibbles(file + 16, block.quants.data());
  }

  static QuantScale scale(const QuantBlock& block, int i) {
    const auto& b = block.scales;
    const int scale = i < 4 ? b[i] & 63 : (b[i + 4] & 15) | (b[i - 4] >> 6) << 4;
    const int min = i < 4 ? b[i + 4] & 63 : b[i + 4] >> 4 | (b[i] >> 6) << 4;
    return {f16_to_float(block.f16s[0]) * static_cast<float>(scale),
            f16_to_float(block.f16s[1]) * static_cast<float>(min)};
  }

  template <class Lanes>
  [[gnu::always_inline]] static void decode_scales(PanelHeader<Lanes> header, Floats<Lanes>* scales,
                                                   Floats<Lanes>* mins) {
    const auto d = header.f16s(0), m = header.f16s(1);
    for (int i = 0; i < 4; ++i) {
      const auto a = header.bytes(i), b = header.bytes(i + 4), c = header.bytes(i + 8);
      scales[i] = times<Lanes>(d, Lanes::template bits<0, 63>(a));
      mins[i] = times<Lanes>(m, Lanes::template bits<0, 63>(b));
      scales[i + 4] =
          times<Lanes>(d, Lanes::either(Lanes::template bits<0, 15>(c), Lanes::template bits<2, 48>(a)));
      mins[i + 4] =
          times<Lanes>(m, Lanes::either(Lanes::template bits<4, 15>(c), Lanes::template bits<2, 48>(b)));
    }
  }
};

}  // namespace spectr::quant
