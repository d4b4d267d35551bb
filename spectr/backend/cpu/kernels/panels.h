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

/// A panel has as many rows as the widest vector has lanes of 32 bits.
constexpr int panel_rows = 16;

/// A quantized matrix as panels of 16 rows (docs/kernels.md has the picture). A panel is the quants of all
/// its blocks of 32 columns and then the headers of all its super-blocks: a permutation of the bits in the
/// file, but for formats that take more (quant/formats.h).
///
/// Quants: those of a row in a block make 8 groups of 4 consecutive columns. Group g of the 16 rows is a
/// vector of 64 bytes, row after row. A plane of B bits per quant packs 8 such vectors into B: group g is in
/// vector g mod B, shifted left by (g div B) · B. A block is its low plane, then its high plane. Headers:
/// each factor of 16 bits and then each scale byte of the super-block, as a vector of the 16 rows.
struct PanelShape {
  QuantLayout layout;
  std::size_t super_blocks;  ///< per row

  std::size_t blocks() const { return super_blocks * static_cast<std::size_t>(layout.blocks()); }
  std::size_t block_bytes() const { return static_cast<std::size_t>(64 * layout.bits()); }
  std::size_t header_bytes() const { return static_cast<std::size_t>(panel_rows * layout.header_bytes()); }
  std::size_t headers_at() const { return blocks() * block_bytes(); }
  /// Distance of panels, a multiple of 64.
  std::size_t panel_bytes() const { return (headers_at() + super_blocks * header_bytes() + 63) / 64 * 64; }
};

/// The order in which panels come from memory: one line after the other, or in four places at once, which are
/// the quarters of a panel or four interleaved panels.
enum class PanelOrder { in_line, quarters, interleaved };

/// What is prefetched while a panel is used.
struct PanelPrefetch {
  const std::uint8_t* quants;  ///< the first of four places; in line, where everything begins
  std::size_t apart;           ///< bytes from one place to the next; 0: in line
  std::ptrdiff_t headers;      ///< how far ahead of those in use; 0 in line
};

/// Panels that follow one another.
struct PanelRun {
  const PanelShape& shape;
  const std::uint8_t* quants;  ///< of the first panel
  std::size_t rows;            ///< of weights in all of them: the last panel may have less than 16
  std::size_t index;           ///< of the first panel in its matrix
  std::size_t uncached;        ///< panels of the matrix from the first on that are not in the cache yet
  PanelOrder order;            ///< in which they come

  std::size_t panels() const { return div_up(rows, panel_rows); }
  const std::uint8_t* quants_of(std::size_t panel) const { return quants + panel * shape.panel_bytes(); }
  std::size_t rows_of(std::size_t panel) const {
    return std::min<std::size_t>(panel_rows, rows - panel * panel_rows);
  }
  /// What is prefetched while this panel is used. `at_once`: how many panels are used side by side, 1 or 2.
  PanelPrefetch prefetch_after(std::size_t panel, std::size_t at_once = 1) const;
};

/// Where a quant is: a byte of the vectors of its plane, and the shift within it.
struct QuantPlace {
  std::size_t byte;
  int shift;
};

/// The place of the quant of (row, column of the block) in a plane of `bits` bits.
constexpr QuantPlace quant_place(int row, int column, int bits) {
  const int group = column / 4;
  return {static_cast<std::size_t>(64 * (group % bits) + 4 * row + column % 4), group / bits * bits};
}

/// Packs all rows of a matrix, into pages that it shares if there are any; rows past the end of the last
/// panel are zero.
AlignedBytes pack_panels(TensorType type, const PanelShape& shape, std::size_t rows,
                         std::span<const std::byte> file, ThreadPool& pool, SharedPages* pages);

/// Takes super-block `index` of row `row` (< 16) of a panel apart.
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
