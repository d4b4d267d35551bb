#pragma once

#include <cstddef>

#include "spectr/base/span2d.h"

namespace spectr {

/// The layout of the rows of a sweep for products with floating-point weights, which add column j to running
/// sum j mod 16. A kernel with few registers keeps `together` of the 16 sums at a time and iterates over the
/// columns once per share, so the numbers of a share are contiguous:
///
///     for each share of the sums: for each 16 columns: rows × `together` numbers
///     then the columns after the last 16, row after row
///
/// A single row with `together` = 16 keeps its original layout.
struct FloatLines {
  static constexpr std::size_t sums = 16;

  std::size_t rows;
  std::size_t together;  ///< 4, 8 or 16

  bool as_they_are() const { return rows == 1 && together == sums; }
};

/// Writes x, [lines.rows, cols], in this layout: rows · cols numbers.
void arrange(Span2d<const float> x, const FloatLines& lines, float* out);

}  // namespace spectr
