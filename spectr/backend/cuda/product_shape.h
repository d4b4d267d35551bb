#pragma once

// How a product is shared among threads, and what a group of them keeps in shared memory: for host and
// kernels.

namespace spectr::cuda {

/// How a product goes through its columns. Segment g of 32 has the blocks g, g + 32, …: runs of 2048 columns.
enum class Columns {
  short_run,           ///< at most 2048: no segment has more than one block. x stays in shared memory
  long_run,            ///< any number, as far as x has room there
  streamed,            ///< any number of columns and rows: x passes by as the weights do
  streamed_by_threads  ///< the same where there are no bulk copies
};

/// How a product is shared among threads; no bit depends on it.
struct ProductShape {
  int tiles;     ///< of 8 rows of x that a warp serves
  int sharers;   ///< warps that read the same weights, each with tiles of its own
  int warps;     ///< of a group
  int segments;  ///< of the 32 that a group sums: 8, 16 or 32
  Columns columns;

  constexpr bool is_streamed() const {
    return columns == Columns::streamed || columns == Columns::streamed_by_threads;
  }
  constexpr int x_tiles() const { return tiles * sharers; }
  constexpr int lanes() const { return warps / sharers; }  ///< warps with panels of their own
  constexpr int parts() const { return 32 / segments; }
  constexpr int stretches() const { return segments / 8; }

  friend bool operator==(const ProductShape&, const ProductShape&) = default;
};

/// A shape as a type.
template <int tiles, int sharers, int warps, int segments, Columns columns>
struct Shaped {
  static constexpr ProductShape shape{tiles, sharers, warps, segments, columns};
};

/// Bytes of a panel's 16 rows in a format.
struct FormatBytes {
  int codes;                ///< of a block of 64 columns
  int scales;               ///< of a block
  int factors;              ///< of four blocks
  bool takes_sums = false;  ///< of 32 columns of x
};

/// Where things are in a group's shared memory, x staying there: a ring of stretches of weights for each
/// lane, x, barriers.
struct ProductMemory {
  ProductShape shape;
  FormatBytes format;
  int runs;  ///< blocks of a segment, at most
  int used;  ///< lanes that have panels
  int ring;  ///< slots of a lane

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

/// Panels of the group that has the most.
constexpr int most_panels(const ProductShape& shape, int panels, int groups) {
  const int stride = groups / shape.parts();
  return (panels + stride - 1) / stride;
}

/// For matrices of so many panels in all and `blocks` blocks of 64 columns.
constexpr ProductMemory product_memory(const ProductShape& shape, const FormatBytes& format, int all_panels,
                                       int blocks, int groups, int ring) {
  const int panels = most_panels(shape, all_panels, groups), lanes = shape.lanes();
  return {.shape = shape,
          .format = format,
          .runs = shape.columns == Columns::short_run ? 1 : (blocks + 31) / 32,
          .used = panels < lanes ? panels : lanes,
          .ring = ring};
}

/// Where things are in a group's shared memory, x passing by: a ring of chunks of four blocks, each with the
/// weights of all lanes and x; barriers.
struct StreamedMemory {
  ProductShape shape;
  FormatBytes format;

  static constexpr int blocks = 4;  ///< of a chunk
  static constexpr int ring = 3;    ///< slots

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
