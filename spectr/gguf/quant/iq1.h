#pragma once

#include <array>
#include <cstdint>

#include "spectr/gguf/quant/grids.h"
#include "spectr/gguf/quant/quant_layout.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr::quant {

/// −1, 0 or 1, from a grid of eight, plus or minus ⅛; several groups share the bit for this sign.
struct IQ1 : EightNumbers {
  using Kept = IQ1;
  /// In eighths: with ⅛ added, then with ⅛ subtracted.
  alignas(16) static constexpr std::array<std::int8_t, 16> values = {-7, 1, 9, 0, -9, -1, 7};
};

struct IQ1_S : IQ1 {
  static constexpr TensorFormat format{TensorType::iq1_s, "IQ1_S", 256, 50};

  /// File layout: d; 32 low bytes of grid indices; for each 32 columns, 16 bits with the high three bits of
  /// four indices, three bits of the scale, and the sign of the eighth.
  static void split(const std::uint8_t* file, QuantBlock& block);
};

struct IQ1_M : IQ1 {
  static constexpr TensorFormat format{TensorType::iq1_m, "IQ1_M", 256, 56};

  /// File layout: 32 low bytes of grid indices; four bits per index: its high three bits and the sign of the
  /// eighth; four times 16 bits: four scales of three bits and a quarter of d.
  static void split(const std::uint8_t* file, QuantBlock& block);
};

}  // namespace spectr::quant
