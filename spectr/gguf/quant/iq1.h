#pragma once

#include <array>
#include <cstdint>

#include "spectr/gguf/quant/grids.h"
#include "spectr/gguf/quant/quant_layout.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr::quant {

/// −1, 0 or 1, by a grid of eight, and ⅛ more or less, by one bit for several groups.
struct IQ1 : EightNumbers {
  using Kept = IQ1;
  /// Eighths: with one more, with one less.
  alignas(16) static constexpr std::array<std::int8_t, 16> values = {-7, 1, 9, 0, -9, -1, 7};
};

struct IQ1_S : IQ1 {
  static constexpr TensorFormat format{TensorType::iq1_s, "IQ1_S", 256, 50};

  /// File: d, 32 low bytes of grid indices, and for each 32 columns 16 bits: the high three of four indices,
  /// three of the scale, the sign of the eighth.
  static void split(const std::uint8_t* file, QuantBlock& block);
};

struct IQ1_M : IQ1 {
  static constexpr TensorFormat format{TensorType::iq1_m, "IQ1_M", 256, 56};

  /// File: 32 low bytes of grid indices; for each index four bits: its high three, the sign of the eighth;
  /// four times 16 bits: four scales of three bits and a quarter of d.
  static void split(const std::uint8_t* file, QuantBlock& block);
};

}  // namespace spectr::quant
