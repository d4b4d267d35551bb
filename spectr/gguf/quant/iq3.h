#pragma once

#include <array>
#include <cstdint>

#include "spectr/gguf/quant/grids.h"
#include "spectr/gguf/quant/quant_layout.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr::quant {

/// Eight magnitudes, from a grid of four, with a sign.
struct IQ3_XXS : SixteenNumbers {
  static constexpr TensorFormat format{TensorType::iq3_xxs, "IQ3_XXS", 256, 98};
  alignas(16) static constexpr std::array<std::int8_t, 16> values = {4,  12,  20,  28,  36,  44,  52,  62,
                                                                     -4, -12, -20, -28, -36, -44, -52, -62};

  /// File layout: d; 64 bytes of grid indices; per 32 columns 32 bits: four times seven signs, the scale.
  static void split(const std::uint8_t* file, QuantBlock& block);
};

/// Eight magnitudes, from a grid of four, with a sign: odd numbers, here in quarters, like the scales.
struct IQ3_S : SixteenNumbers {
  static constexpr TensorFormat format{TensorType::iq3_s, "IQ3_S", 256, 110};
  alignas(16) static constexpr std::array<std::int8_t, 16> values = {4,  12,  20,  28,  36,  44,  52,  60,
                                                                     -4, -12, -20, -28, -36, -44, -52, -60};

  /// File layout: d; 64 low bytes of grid indices; 8 bytes with their ninth bits; 32 bytes of signs; 4 bytes
  /// of scales.
  static void split(const std::uint8_t* file, QuantBlock& block);
};

}  // namespace spectr::quant
