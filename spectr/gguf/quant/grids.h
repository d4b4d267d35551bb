// Formats whose files name numbers by groups of eight or four: an index of a grid, which is a list of such
// groups, and signs. The grids are those of llama.cpp, which defines the formats (ggml-common.h; in Python,
// quants.py of the package gguf). In memory each number has an index of a short table of its own, so that a
// kernel looks numbers up as it does in other formats: exact, in more bits than the file's.
#pragma once

#include <bit>
#include <cstdint>

#include "spectr/gguf/f16.h"
#include "spectr/gguf/quant/panel_header.h"
#include "spectr/gguf/quant/quant_layout.h"

namespace spectr::quant {

/// Eight quants of 3 bits: two of an entry of a grid, from low to high, and the third of `above`.
inline void set_eight(std::uint16_t entry, int above, std::uint8_t* quants) {
  for (int j = 0; j < 8; ++j) {
    quants[j] = static_cast<std::uint8_t>((entry >> (2 * j) & 3) | (above >> j & 1) << 2);
  }
}

/// Four quants of 4 bits: three of an entry of a grid, of 4 bits each, and the fourth of `above`.
inline void set_four(std::uint16_t entry, int above, std::uint8_t* quants) {
  for (int j = 0; j < 4; ++j) {
    quants[j] = static_cast<std::uint8_t>((entry >> (4 * j) & 7) | (above >> j & 1) << 3);
  }
}

/// Eight signs, of which files have seven: the number of ones is even.
inline int eight_signs(std::uint32_t seven) {
  return static_cast<int>(seven | static_cast<std::uint32_t>(std::popcount(seven) % 2) << 7);
}

/// Scale i of four bits; two share a byte, the first in its low nibble.
inline int nibble(const QuantBlock& block, int i) {
  return block.scales[i / 2] >> (4 * (i % 2)) & 15;
}

/// Quants of 3 bits in a table of eight numbers, with a scale d (2s + 1) / 8 for sixteen.
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

/// Quants of 4 bits in a table of sixteen numbers, with a scale d (2s + 1) / 4 for thirty-two.
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
