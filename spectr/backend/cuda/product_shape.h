#pragma once

// The division of a product among threads, and the layout of its shared memory, for host and
// kernels.

namespace spectr::cuda {

/// The iteration of a product over columns. Segment g of 32 has blocks g, g + 32, …: runs of 2048 columns.
enum class Columns {
  short_run,           ///< at most 2048 columns: one block per segment. x stays in shared memory
  long_run,            ///< any number of columns for which x fits into shared memory
  streamed,            ///< any number of columns and rows: x is streamed like the weights
  streamed_by_threads  ///< like `streamed`, without bulk copies
};

/// The division of a product among threads. The results are bitwise independent of it.
struct ProductShape {
  int tiles;     ///< tiles of 8 rows of x per warp
  int sharers;   ///< warps that read the same weights, with different tiles
  int warps;     ///< per thread block
  int segments;  ///< of the 32, per thread block: 8, 16 or 32
  Columns columns;

  constexpr bool is_streamed() const {
    return columns == Columns::streamed || columns == Columns::streamed_by_threads;
  }
  constexpr int x_tiles() const { return tiles * sharers; }
  constexpr int lanes() const { return warps / sharers; }  ///< warps with different panels
  constexpr int parts() const { return 32 / segments; }
  constexpr int stretches() const { return segments / 8; }

  friend bool operator==(const ProductShape&, const ProductShape&) = default;
};

/// A shape as a type, for template arguments.
template <int tiles, int sharers, int warps, int segments, Columns columns>
struct Shaped {
  static constexpr ProductShape shape{tiles, sharers, warps, segments, columns};
};

/// Bytes of a format for the 16 rows of a panel.
struct FormatBytes {
  int codes;                ///< per block of 64 columns
  int scales;               ///< per block
  int factors;              ///< per four blocks
  bool takes_sums = false;  ///< true if products need sums of 32 columns of x
};

/// Shared memory layout of a thread block if x stays there: for each lane a ring of stretches of weights,
/// then x, then barriers.
struct ProductMemory {
  ProductShape shape;
  FormatBytes format;
  int runs;  ///< maximum blocks per segment
  int used;  ///< number of lanes with panels
  int ring;  ///< slots per lane

  constexpr int code_bytes() const { return runs * 8 * format.codes; }
  constexpr int scale_bytes() const { return runs * 8 * format.scales; }
  constexpr int slot_bytes() const { return code_bytes() + scale_bytes() + runs * 2 * format.factors; }
  constexpr int x_at() const { return used * ring * slot_bytes(); }
  constexpr int x_blocks() const { return runs * shape.segments * shape.x_tiles(); }
  constexpr int x_scales_at() const { return x_at() + 512 * x_blocks(); }
  constexpr int x_sums_at() const { return x_scales_at() + 64 * x_blocks(); }
  constexpr int barriers_at() const { return x_sums_at() + (format.takes_sums ? 64 * x_blocks() : 0); }
  constexpr int x_barrier_at() const { return barriers_at() + 16 * used * ring; }
  constexpr int bytes() const { return x_barrier_at() + 16; }
};

/// Returns the maximum number of panels of a thread block.
constexpr int max_panels(const ProductShape& shape, int panels, int groups) {
  const int stride = groups / shape.parts();
  return (panels + stride - 1) / stride;
}

/// Returns the layout for `all_panels` panels and `blocks` blocks of 64 columns.
constexpr ProductMemory product_memory(const ProductShape& shape, const FormatBytes& format, int all_panels,
                                       int blocks, int groups, int ring) {
  const int panels = max_panels(shape, all_panels, groups), lanes = shape.lanes();
  return {.shape = shape,
          .format = format,
          .runs = shape.columns == Columns::short_run ? 1 : (blocks + 31) / 32,
          .used = panels < lanes ? panels : lanes,
          .ring = ring};
}

/// Shared memory layout of a thread block if x is streamed: a ring of chunks of four blocks, each with the
/// weights of all lanes and x, then barriers.
struct StreamedMemory {
  ProductShape shape;
  FormatBytes format;

  static constexpr int blocks = 4;  ///< per chunk
  static constexpr int ring = 3;    ///< number of slots

  constexpr int scales_at() const { return blocks * format.codes; }
  constexpr int factors_at() const { return scales_at() + blocks * format.scales; }
  constexpr int lane_bytes() const { return factors_at() + format.factors; }
  constexpr int x_at() const { return shape.lanes() * lane_bytes(); }
  constexpr int x_scales_at() const { return x_at() + blocks * shape.x_tiles() * 512; }
  constexpr int x_sums_at() const { return x_scales_at() + blocks * shape.x_tiles() * 64; }
  constexpr int slot_bytes() const {
    return x_sums_at() + (format.takes_sums ? blocks * shape.x_tiles() * 64 : 0);
  }
  constexpr int barriers_at() const { return ring * slot_bytes(); }
  constexpr int bytes() const { return barriers_at() + 8 * ring; }
};

}  // namespace spectr::cuda
