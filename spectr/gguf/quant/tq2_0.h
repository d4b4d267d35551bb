#pragma once

#include <cstdint>

#include "spectr/gguf/quant/q2_0.h"
#include "spectr/gguf/quant/quant_layout.h"
#include "spectr/gguf/quant/unpack.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr::quant {

/// Numbers are −d, 0 or d, as in Q2_0 but in another order.
struct TQ2_0 : Q2_0 {
  using Kept = Q2_0;
  static constexpr TensorFormat format{TensorType::tq2_0, "TQ2_0", 256, 66};

  /// File layout: 64 bytes of quants, d.
  static void split(const std::uint8_t* file, QuantBlock& block) {
    unpack_256_pairs(file, block.quants.data());
    block.f16s[0] = bits16(file + 64);
  }
};

}  // namespace spectr::quant
