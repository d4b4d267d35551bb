#pragma once

#include <cstddef>

#include "spectr/base/span2d.h"

namespace spectr {

/// How the rows of one sweep lie for a product with plain numbers, which adds column j to running sum j
/// mod 16. A kernel with few registers keeps `together` of the 16 sums at a time and goes over the columns
/// once for each such share, so what a share meets lies in one line:
///
///     for each share of the sums: for each 16 columns: rows × `together` numbers
///     then the columns after the last 16, row after row
///
/// One row whose sums are all kept together lies as it is.
struct FloatLines {
  static constexpr std::size_t sums = 16;

  std::size_t rows;
  std::size_t together;  ///< 4, 8 or 16

  bool as_they_are() const { return rows == 1 && together == sums; }
};

/// Writes x: [lines.rows, cols] in that order; rows · cols numbers.
void arrange(Span2d<const float> x, const FloatLines& lines, float* out);

}  // namespace spectr
