#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "spectr/backend/cpu/kernels/aligned_bytes.h"
#include "spectr/backend/cpu/kernels/matrix.h"
#include "spectr/base/numeric.h"
#include "spectr/base/thread_pool.h"
#include "spectr/gguf/quant/quant_layout.h"

namespace spectr {

/// Rows per panel: the number of 32-bit lanes of the widest vectors.
constexpr int panel_rows = 16;

/// A quantized matrix as panels of 16 rows (see the picture in docs/kernels.md). A panel has the quants of
/// all its blocks of 32 columns, followed by the headers of all its super-blocks: a permutation of the file's
/// bits, except for formats that take more (quant/formats.h).
///
/// Quants: those of a row in a block form 8 groups of 4 consecutive columns. Group g of the 16 rows is a
/// vector of 64 bytes, row by row. A plane of B bits per quant packs 8 such vectors into B: group g is in
/// vector g mod B, shifted left by (g div B) · B. A block is its low plane, then its high plane. Headers:
/// each 16-bit factor, then each scale byte of the super-block, as a vector of the 16 rows.
struct PanelShape {
  QuantLayout layout;
  std::size_t super_blocks;  ///< per row

  std::size_t blocks() const { return super_blocks * static_cast<std::size_t>(layout.blocks()); }
  std::size_t block_bytes() const { return static_cast<std::size_t>(64 * layout.bits()); }
  std::size_t header_bytes() const { return static_cast<std::size_t>(panel_rows * layout.header_bytes()); }
  std::size_t headers_at() const { return blocks() * block_bytes(); }
  /// Returns the stride of panels in bytes, a multiple of 64.
  std::size_t panel_bytes() const { return (headers_at() + super_blocks * header_bytes() + 63) / 64 * 64; }
};

/// The order in which panels are read from memory: sequentially, or as four concurrent streams, which are the
/// quarters of a panel or four interleaved panels.
enum class PanelOrder { in_line, quarters, interleaved };

/// The prefetch target while a panel is used.
struct PanelPrefetch {
  const std::uint8_t* quants;  ///< the first of four streams; the only one if in_line
  std::size_t stride;          ///< stride of the streams in bytes; 0: in_line
  std::ptrdiff_t headers;      ///< distance from the headers in use; 0 if in_line
};

/// Consecutive panels.
struct PanelRun {
  const PanelShape& shape;
  const std::uint8_t* quants;  ///< of the first panel
  std::size_t rows;            ///< total rows of weights; the last panel may have fewer than 16
  std::size_t index;           ///< of the first panel in its matrix
  std::size_t uncached;        ///< panels of the matrix, from the first on, that are not cached yet
  PanelOrder order;            ///< in which panels are read

  std::size_t panels() const { return div_up(rows, panel_rows); }
  const std::uint8_t* quants_of(std::size_t panel) const { return quants + panel * shape.panel_bytes(); }
  std::size_t rows_of(std::size_t panel) const {
    return std::min<std::size_t>(panel_rows, rows - panel * panel_rows);
  }
  /// Returns the prefetch target while a panel is used; `at_once` panels, 1 or 2, are used concurrently.
  PanelPrefetch prefetch_after(std::size_t panel, std::size_t at_once = 1) const;
};

/// The location of a quant: a byte in the vectors of its plane, and the shift within it.
struct QuantPlace {
  std::size_t byte;
  int shift;
};

/// Returns the location of the quant at (row, column of the block) in a plane of `bits` bits.
constexpr QuantPlace quant_place(int row, int column, int bits) {
  const int group = column / 4;
  return {static_cast<std::size_t>(64 * (group % bits) + 4 * row + column % 4), group / bits * bits};
}

/// Packs all rows of a matrix, into shared pages if `pages` is given. Padding rows of the last panel are
/// zero.
AlignedBytes pack_panels(TensorType type, const PanelShape& shape, std::size_t rows,
                         std::span<const std::byte> file, ThreadPool& pool, SharedPages* pages);

/// Unpacks super-block `index` of row `row` (< 16) of a panel.
void read_super_block(const PanelShape& shape, const std::uint8_t* panel, int row, std::size_t index,
                      QuantBlock& block);

/// A matrix in memory: panels, or the file's own bytes.
struct Matrix::Packed {
  TensorType type;
  std::size_t rows;
  std::size_t cols;
  std::span<const std::byte> file;  // F32, F16, BF16
  PanelShape shape;                 // the quantized formats
  AlignedBytes panels;

  std::size_t panel_count() const { return div_up(rows, panel_rows); }
  const std::uint8_t* panel(std::size_t i) const { return panels.get() + i * shape.panel_bytes(); }
};

}  // namespace spectr
