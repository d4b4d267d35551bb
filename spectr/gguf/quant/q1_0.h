#pragma once

#include <cstdint>

#include "spectr/gguf/quant/q2_0.h"
#include "spectr/gguf/quant/quant_layout.h"
#include "spectr/gguf/quant/unpack.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr::quant {

/// Numbers are −d or d.
struct Q1_0 : Q2_0 {
  using Kept = Q2_0;
  static constexpr TensorFormat format{TensorType::q1_0, "Q1_0", 128, 18};

  /// File layout: d, then one bit per number; 1 denotes d.
  static void split(const std::uint8_t* file, QuantBlock& block) {
    block.f16s[0] = bits16(file);
    for (int j = 0; j < 128; ++j) {
      block.quants[j] = static_cast<std::uint8_t>(2 * (file[2 + j / 8] >> (j % 8) & 1));
    }
  }
};

}  // namespace spectr::quant
