#pragma once

#include <cstdint>

/// Properties of a quantized format in panels (weight_panels.h), as plain data for host and kernels.
namespace spectr {

/// The scales of a block. Small scales are multiplied by factors that 256 columns share.
enum class PanelScales : int {
  halves,             ///< F16, one per 32 columns
  upper_halves,       ///< upper halves of f32 (bf16), one per 32 columns
  halves_and_minima,  ///< F16 scale and F16 minimum per 32 columns
  small,              ///< signed byte per 32 columns
  small_and_minima,   ///< byte scale and byte minimum per 32 columns
  small_of_16,        ///< signed byte per 16 columns
  nibbles_of_16,      ///< byte per 16 columns: the scale in its low nibble, the minimum in its high nibble
};

/// Returns the number of scale words per row and block.
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
  int bits;  ///< of a code
  /// The value of code c is c − offset (8-bit codes are signed), or byte c of `table` if has_table.
  int offset;
  bool has_table;
  std::uint32_t table[4];
  PanelScales scales;
};

}  // namespace spectr
