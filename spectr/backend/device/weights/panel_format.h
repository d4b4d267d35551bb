#pragma once

#include <cstdint>

/// What a kernel has to know of a quantized format in panels (weight_panels.h), for host and kernels.
namespace spectr {

/// What the scales of a block are. Those that are small are multiplied by factors of 256 columns.
enum class PanelScales : int {
  halves,             ///< F16 numbers, of 32 columns each
  upper_halves,       ///< the upper halves of floats, of 32 columns each
  halves_and_minima,  ///< F16 numbers, of 32 columns each, and those of minima
  small,              ///< signed bytes, of 32 columns each
  small_and_minima,   ///< bytes, of 32 columns each, and those of minima
  small_of_16,        ///< signed bytes, of 16 columns each
  nibbles_of_16,      ///< bytes, of 16 columns each: a scale in the low and a minimum in the high nibble
};

/// Words that a row has for a block.
constexpr int scale_words(PanelScales scales) {
  return scales == PanelScales::halves_and_minima ? 2 : 1;
}
constexpr bool has_factors(PanelScales scales) {
  return scales >= PanelScales::small;
}
constexpr bool has_minima(PanelScales scales) {
  return scales == PanelScales::halves_and_minima || scales == PanelScales::small_and_minima ||
         scales == PanelScales::nibbles_of_16;
}
constexpr bool is_of_16(PanelScales scales) {
  return scales >= PanelScales::small_of_16;
}

struct PanelFormat {
  int bits;  ///< of a code c
  /// c stands for c − offset, of 8 bits as a signed byte; or, has_table, for byte c of these words.
  int offset;
  bool has_table;
  std::uint32_t table[4];
  PanelScales scales;
};

}  // namespace spectr
