#pragma once

#include <array>
#include <cstdint>

#include "spectr/gguf/quant/grids.h"
#include "spectr/gguf/quant/quant_layout.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr::quant {

/// 8, 25 or 43, from a grid of eight, with a sign.
struct IQ2 : EightNumbers {
  using Kept = IQ2;
  alignas(16) static constexpr std::array<std::int8_t, 16> values = {8, 25, 43, 0, -8, -25, -43};
};

struct IQ2_XXS : IQ2 {
  static constexpr TensorFormat format{TensorType::iq2_xxs, "IQ2_XXS", 256, 66};

  /// File layout: d; for each 32 columns, four bytes of grid indices and 32 bits with four times seven signs
  /// and the scale.
  static void split(const std::uint8_t* file, QuantBlock& block);
};

struct IQ2_XS : IQ2 {
  static constexpr TensorFormat format{TensorType::iq2_xs, "IQ2_XS", 256, 74};

  /// File layout: d; 32 times 16 bits: nine of a grid index and seven signs; 8 bytes of scales.
  static void split(const std::uint8_t* file, QuantBlock& block);
};

struct IQ2_S : IQ2 {
  static constexpr TensorFormat format{TensorType::iq2_s, "IQ2_S", 256, 82};

  /// File layout: d; 32 low bytes of grid indices; 32 bytes of signs; 8 bytes with the high two bits of the
  /// indices; 8 bytes of scales.
  static void split(const std::uint8_t* file, QuantBlock& block);
};

}  // namespace spectr::quant
