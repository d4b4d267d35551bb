// Formats whose files store numbers in groups of eight or four: an index into a grid, a list of such groups,
// and signs. The grids are those of llama.cpp, which defines the formats (ggml-common.h; in Python, quants.py
// of the package gguf). In memory, each number is an index into a short table, so that kernels look numbers
// up as for other formats. This is exact but takes more bits than the file.
#pragma once

#include <bit>
#include <cstdint>

#include "spectr/gguf/f16.h"
#include "spectr/gguf/quant/panel_header.h"
#include "spectr/gguf/quant/quant_layout.h"

namespace spectr::quant {

/// Sets eight quants of 3 bits: the low two from a grid entry, from low to high, and the third from `above`.
inline void set_eight(std::uint16_t entry, int above, std::uint8_t* quants) {
  for (int j = 0; j < 8; ++j) {
    quants[j] = static_cast<std::uint8_t>((entry >> (2 * j) & 3) | (above >> j & 1) << 2);
  }
}

/// Sets four quants of 4 bits: the low three from a nibble of a grid entry, and the fourth from `above`.
inline void set_four(std::uint16_t entry, int above, std::uint8_t* quants) {
  for (int j = 0; j < 4; ++j) {
    quants[j] = static_cast<std::uint8_t>((entry >> (4 * j) & 7) | (above >> j & 1) << 3);
  }
}

/// Returns eight signs from the seven in the file: the number of ones is even.
inline int eight_signs(std::uint32_t seven) {
  return static_cast<int>(seven | static_cast<std::uint32_t>(std::popcount(seven) % 2) << 7);
}

/// Returns the 4-bit scale i. Two share a byte, the first in its low nibble.
inline int nibble(const QuantBlock& block, int i) {
  return block.scales[i / 2] >> (4 * (i % 2)) & 15;
}

/// Quants are 3-bit indices into a table of eight numbers; sixteen share a scale d (2s + 1) / 8.
struct EightNumbers {
  static constexpr QuantLayout layout{.columns = 256,
                                      .f16s = 1,
                                      .scale_bytes = 8,
                                      .low_bits = 2,
                                      .high_bits = 1,
                                      .scale_columns = 16,
                                      .meaning = QuantLayout::Meaning::table_index};

  static QuantScale scale(const QuantBlock& block, int i) {
    return {f16_to_float(block.f16s[0]) / 8 * static_cast<float>(2 * nibble(block, i) + 1)};
  }

  template <class Lanes>
  [[gnu::always_inline]] static void decode_scales(PanelHeader<Lanes> header, Floats<Lanes>* scales,
                                                   Floats<Lanes>*) {
    const auto d = Lanes::multiply(header.f16s(0), Lanes::float_of(1.0f / 8));
    for (int i = 0; i < 8; ++i) {
      const auto both = header.bytes(i);
      scales[2 * i] = times_odd<Lanes, 0>(d, both);
      scales[2 * i + 1] = times_odd<Lanes, 4>(d, both);
    }
  }
};

/// Quants are 4-bit indices into a table of sixteen numbers; 32 share a scale d (2s + 1) / 4.
struct SixteenNumbers {
  static constexpr QuantLayout layout{.columns = 256,
                                      .f16s = 1,
                                      .scale_bytes = 4,
                                      .low_bits = 4,
                                      .scale_columns = 32,
                                      .meaning = QuantLayout::Meaning::table_index};

  static QuantScale scale(const QuantBlock& block, int i) {
    return {f16_to_float(block.f16s[0]) / 4 * static_cast<float>(2 * nibble(block, i) + 1)};
  }

  template <class Lanes>
  [[gnu::always_inline]] static void decode_scales(PanelHeader<Lanes> header, Floats<Lanes>* scales,
                                                   Floats<Lanes>*) {
    const auto d = Lanes::multiply(header.f16s(0), Lanes::float_of(1.0f / 4));
    for (int i = 0; i < 4; ++i) {
      const auto both = header.bytes(i);
      scales[2 * i] = times_odd<Lanes, 0>(d, both);
      scales[2 * i + 1] = times_odd<Lanes, 4>(d, both);
    }
  }
};

}  // namespace spectr::quant
