#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "spectr/gguf/quant/panel_header.h"
#include "spectr/gguf/quant/quant_layout.h"
#include "spectr/gguf/quant/unpack.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr::quant {

/// Scales are powers of two, 2^(e − 128), with e in one byte.
struct MXFP4 {
  static constexpr TensorFormat format{TensorType::mxfp4, "MXFP4", 32, 17};
  static constexpr QuantLayout layout{.columns = 32,
                                      .f16s = 0,
                                      .scale_bytes = 1,
                                      .low_bits = 4,
                                      .scale_columns = 32,
                                      .meaning = QuantLayout::Meaning::table_index};

  /// Values of the quants: twice the floats with a sign, two bits of exponent and one of fraction (E2M1 of
  /// the OCP Microscaling Formats).
  alignas(16) static constexpr std::array<std::int8_t, 16> values = {0, 1,  2,  3,  4,  6,  8,  12,
                                                                     0, -1, -2, -3, -4, -6, -8, -12};

  /// File layout: e, 16 bytes of nibbles.
  static void split(const std::uint8_t* file, QuantBlock& block) {
    block.scales[0] = file[0];
    unpack_nibbles(file + 1, block.quants.data());
  }

  static QuantScale scale(const QuantBlock& block, int) { return {std::ldexp(1.0f, block.scales[0] - 128)}; }

  /// Computes h² (1 + (e mod 2)) with h = 2^(⌊e / 2⌋ − 64), whose exponent is normal for every e.
  template <class Lanes>
  [[gnu::always_inline]] static void decode_scales(PanelHeader<Lanes> header, Floats<Lanes>* scales,
                                                   Floats<Lanes>*) {
    constexpr int exponent = 23, bias = 127;  // of floats
    const auto e = header.bytes(0);
    const auto half = Lanes::template bits<1 - exponent, 127 << exponent>(e);
    const auto h = Lanes::as_floats(Lanes::add(half, (bias - 64) << exponent));
    scales[0] = times<Lanes>(Lanes::multiply(h, h), Lanes::add(Lanes::template bits<0, 1>(e), 1));
  }
};

}  // namespace spectr::quant
