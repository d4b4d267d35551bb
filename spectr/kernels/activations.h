#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "spectr/kernels/code_layout.h"

namespace spectr {

/// Rows of x, quantised for one sweep over the panels: in each block of 32 columns, x[j] ≈ a · q[j] with
/// a = max |x| / 127 and q[j] the integer nearest to x[j] / a, a signed byte. All rows of a block are
/// together:
///
///     q: rows × 32 bytes | a: rows floats | corrections: scales of a block × rows numbers of 4 bytes
///
/// The correction stands for what a sum over codes has too much, Q = Σ q[j] over the columns of one scale:
/// the integer factor · Q for the formats whose codes have an offset, the float a · Q for those with minima.
/// A kernel of signed codes needs none.
///
/// A kernel may want two blocks together, to multiply both at once and yet apart. Then there are twice as
/// many lines, of 64 bytes, and zeros where a line meets the weights of the other block:
///
///     q: rows × (32 bytes of the first, 32 zeros), rows × (32 zeros, 32 bytes of the second)
///     a, corrections: as above, for 2 · rows lines
struct ActivationBlock {
  int rows;
  int corrections;   ///< per row and block: 0, 1 or 2
  int together = 1;  ///< blocks: 1 or 2

  constexpr int lines() const { return rows * together; }
  constexpr std::size_t line_bytes() const { return static_cast<std::size_t>(32 * together); }
  constexpr std::size_t scales_at() const { return static_cast<std::size_t>(lines()) * line_bytes(); }
  constexpr std::size_t corrections_at() const { return scales_at() + static_cast<std::size_t>(4 * lines()); }
  constexpr std::size_t bytes() const {
    return corrections_at() + static_cast<std::size_t>(4 * corrections * lines());
  }
};

/// Quantises x, x.size() a multiple of 32 · block.together, as row r of the blocks at `out`. Its numbers
/// depend on x alone, bit for bit. `factor` is not used for formats with minima.
void quantise_row(std::span<const float> x, const CodeLayout& layout, int factor,
                  const ActivationBlock& block, int r, std::uint8_t* out);

}  // namespace spectr
