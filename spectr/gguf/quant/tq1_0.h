#pragma once

#include <cstdint>
#include <initializer_list>

#include "spectr/gguf/quant/q2_0.h"
#include "spectr/gguf/quant/quant_layout.h"
#include "spectr/gguf/quant/unpack.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr::quant {

/// Numbers are −d, 0 or d: digits to the base of three, five in a byte b. They are the digits of the fraction
/// b / 256; digit n is the integer part of 3 · ((3ⁿ b mod 256) / 256), n = 0…4.
struct TQ1_0 : Q2_0 {
  using Kept = Q2_0;
  static constexpr TensorFormat format{TensorType::tq1_0, "TQ1_0", 256, 54};

  /// File layout: 32 bytes of five quants, 16 of five, 4 of four, d. Each group of bytes has its first digits
  /// first, byte after byte, then its second digits, and so on.
  static void split(const std::uint8_t* file, QuantBlock& block) {
    std::uint8_t* quants = block.quants.data();
    for (const auto& [bytes, digits] : {Group{32, 5}, Group{16, 5}, Group{4, 4}}) {
      for (int i = 0; i < bytes; ++i, ++file) {
        std::uint8_t fraction = *file;
        for (int n = 0; n < digits; ++n) {
          const int tripled = 3 * fraction;
          quants[n * bytes + i] = static_cast<std::uint8_t>(tripled >> 8);
          fraction = static_cast<std::uint8_t>(tripled);
        }
      }
      quants += bytes * digits;
    }
    block.f16s[0] = bits16(file);
  }

 private:
  struct Group {
    int bytes, digits;
  };
};

}  // namespace spectr::quant
