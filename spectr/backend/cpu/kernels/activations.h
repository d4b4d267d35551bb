#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "spectr/base/numeric.h"

namespace spectr {

/// Integer sums of products start at the bits of this float, 1.5 · 2²³, whose last bit has value 1. For |sum|
/// < 2²², adding the sum to these bits yields the bits of the float sum_start + sum.
inline constexpr float sum_start = 0x1.8p23f;

/// Rows of x, quantized for one sweep over the panels. In each half of a block of 64 columns, which belongs
/// to one block of weights, x[j] ≈ a · q[j] with a = max |x| / 127 and q[j] the integer nearest to x[j] / a,
/// a signed byte. If a number of the half is NaN or infinite, so is a, and no product with it is finite.
/// Padding columns are zero. The rows of a block are contiguous and start on a cache line:
///
///     q: rows × the first 32 bytes, rows × the other 32 | a: rows floats of the first half, rows of the
///     other | corrections: rows numbers of 4 bytes for every scale of weights
///
/// A correction compensates for the excess of a sum over weight quants. With Q = Σ q[j] over the columns of
/// one scale, it is the integer factor · Q, added to the bits of sum_start, if the quants have an offset, or
/// the float Q for formats with minima. A kernel that decodes quants to signed bytes needs none.
///
/// This is the layout for Lines::bytes. Kernels can request lines of 64 bytes instead, to multiply both
/// halves at once with separate sums:
///
///     separate_halves: rows × (32 bytes of the first half, 32 zeros), rows × (32 zeros, 32 of the second)
struct ActivationBlock {
  static constexpr std::size_t columns = 64, half = 32;
  enum class Lines { bytes, separate_halves };

  int rows;
  int corrections;  ///< per row: 0, 2 or 4
  int factor;       ///< of the corrections; 0: they are floats Q
  Lines lines = Lines::bytes;

  constexpr std::size_t line_bytes() const { return lines == Lines::bytes ? 32 : 64; }
  constexpr std::size_t half_bytes() const { return line_bytes() * static_cast<std::size_t>(rows); }
  constexpr std::size_t scales_at() const { return 2 * half_bytes(); }
  constexpr std::size_t corrections_at() const { return scales_at() + static_cast<std::size_t>(8 * rows); }
  constexpr std::size_t bytes() const {
    const std::size_t end = corrections_at() + static_cast<std::size_t>(4 * corrections * rows);
    return round_up(end, 64);
  }
  /// Returns the number of blocks of a row of x.
  static constexpr std::size_t count(std::size_t cols) { return div_up(cols, columns); }
};

/// Quantizes x as row r of the blocks at `out`. The result depends, bit for bit, on x alone. Requires:
/// x.size() is a multiple of 32.
void quantize_row(std::span<const float> x, const ActivationBlock& block, int r, std::uint8_t* out);

}  // namespace spectr
