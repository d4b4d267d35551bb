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
struct ActivationBlock {
  int rows;
  int corrections;  ///< per row

  constexpr std::size_t scales_at() const { return static_cast<std::size_t>(32 * rows); }
  constexpr std::size_t corrections_at() const { return static_cast<std::size_t>(36 * rows); }
  constexpr std::size_t bytes() const { return static_cast<std::size_t>((36 + 4 * corrections) * rows); }
};

/// Quantises x as row r of a sweep of `rows` rows, x.size() a multiple of 32, into x.size() / 32 blocks at
/// `out`. Its numbers depend on x alone, bit for bit. `factor` is not used for formats with minima.
void quantise_row(std::span<const float> x, const CodeLayout& layout, int factor, int rows, int r,
                  std::uint8_t* out);

}  // namespace spectr
