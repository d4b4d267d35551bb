#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "spectr/base/rounding.h"
#include "spectr/base/thread_pool.h"
#include "spectr/kernels/aligned_bytes.h"
#include "spectr/kernels/code_layout.h"
#include "spectr/kernels/matrix.h"

namespace spectr {

/// Rows of a panel: as many as the widest vector has lanes of 32 bits.
constexpr int panel_rows = 16;

/// A quantised matrix as panels of 16 rows (docs/kernels.md has the picture). A panel is the codes of all its
/// blocks of 32 columns and then the headers of all its units, each a permutation of the bits in the file.
///
/// Codes: the 32 codes of a row make 8 groups of 4 consecutive columns. Group g of the 16 rows is a vector of
/// 64 bytes, row after row. A plane of B bits per code packs 8 such vectors into B: group g is in vector
/// g mod B, shifted left by (g div B) · B. A block is its low plane, then its high plane.
/// Headers: each half and then each scale byte of the unit, as a vector of the 16 rows.
struct PanelShape {
  CodeLayout layout;
  std::size_t units;  ///< per row

  std::size_t blocks() const { return units * static_cast<std::size_t>(layout.blocks()); }
  std::size_t block_bytes() const { return static_cast<std::size_t>(64 * layout.bits()); }
  std::size_t header_bytes() const { return static_cast<std::size_t>(panel_rows * layout.header_bytes()); }
  std::size_t headers_at() const { return blocks() * block_bytes(); }
  /// Distance of panels, a multiple of 64.
  std::size_t panel_bytes() const { return (headers_at() + units * header_bytes() + 63) / 64 * 64; }
};

/// The order in which panels come from memory: one line after the other, or in four places at once, which are
/// the quarters of a panel or four panels abreast.
enum class PanelOrder { in_line, quarters, abreast };

/// What is asked for early while a panel is used.
struct ComingPanels {
  const std::uint8_t* codes;  ///< at the first of four places, or all that comes
  std::size_t apart;          ///< bytes from one place to the next; 0: in line
  std::ptrdiff_t headers;     ///< how far ahead of those in use; 0 in line
};

/// Panels that follow one another.
struct PanelRun {
  const PanelShape& shape;
  const std::uint8_t* codes;  ///< of the first panel
  std::size_t rows;           ///< of weights in all of them: the last panel may have less than 16
  std::size_t index;          ///< of the first panel in its matrix
  std::size_t coming;         ///< panels of the matrix from the first on that are not in the cache yet
  PanelOrder order;           ///< in which they come

  std::size_t panels() const { return div_up(rows, panel_rows); }
  const std::uint8_t* codes_of(std::size_t panel) const { return codes + panel * shape.panel_bytes(); }
  std::size_t rows_of(std::size_t panel) const {
    return std::min<std::size_t>(panel_rows, rows - panel * panel_rows);
  }
  /// `at_once`: how many panels are used side by side, 1 or 2.
  ComingPanels coming_after(std::size_t panel, std::size_t at_once = 1) const;
};

/// Byte of a vector of codes and shift within it.
struct CodePlace {
  std::size_t byte;
  int shift;
};

/// Place of the code of (row, column of the block) in a plane of `bits` bits.
constexpr CodePlace code_place(int row, int column, int bits) {
  const int group = column / 4;
  return {static_cast<std::size_t>(64 * (group % bits) + 4 * row + column % 4), group / bits * bits};
}

/// Packs all rows of a matrix, into pages that it shares if there are any; rows past the end of the last
/// panel are zero.
AlignedBytes pack_panels(TensorType type, const PanelShape& shape, std::size_t rows,
                         std::span<const std::byte> file, ThreadPool& pool, SharedPages* pages);

/// Unit `index` of row `row` (< 16) of a panel, taken apart.
void read_unit(const PanelShape& shape, const std::uint8_t* panel, int row, std::size_t index,
               CodeUnit& unit);

/// A matrix in memory: panels, or the file's own bytes.
struct Matrix::Packed {
  TensorType type;
  std::size_t rows;
  std::size_t cols;
  std::span<const std::byte> file;  // F32, F16, BF16
  PanelShape shape;                 // the quantised formats
  AlignedBytes panels;

  std::size_t panel_count() const { return div_up(rows, panel_rows); }
  const std::uint8_t* panel(std::size_t i) const { return panels.get() + i * shape.panel_bytes(); }
};

}  // namespace spectr
