#pragma once

// y = W x as in product.cuh, bitwise equal to it, if x does not fit into shared memory or has more than 64
// rows, e.g. in batches and prefills. A thread block has a panel of W per lane and up to 64 rows of x. It
// iterates over the columns in chunks of four blocks: those of four segments, run by run. A chunk's weights
// and its part of x are copied to shared memory together, two chunks ahead. Blocks with the same panels are
// adjacent, so that weights are read from memory once, and from the L2 cache for further rows of x. Sums and
// their tree stay in registers.
//
// Weights are loaded by bulk copies, issued by one thread and awaited by barriers. Before Hopper, and for
// gathered rows of x, they are loaded by asynchronous copies of 16 bytes: each thread waits for its own
// copies, then all threads synchronize.

#include "spectr/backend/cuda/kernels/block_product.cuh"
#include "spectr/backend/cuda/kernels/parameters.h"
#include "spectr/backend/cuda/kernels/product.cuh"
#include "spectr/backend/cuda/product_shape.h"

namespace spectr::cuda {

/// The blocks of a lane's panel; optional.
struct PanelPlace {
  bool is_there;
  const u8* codes;
  const u32 *scales, *factors;  ///< factors may be null
};
template <class Format>
SPECTR_DEVICE PanelPlace panel_place(bool is_there, const u8* codes, const u32* scales, const u32* factors,
                                     long block) {
  constexpr FormatBytes bytes = Format::bytes;
  if (!is_there) return {};
  return {true, codes + block * bytes.codes, scales + block * (bytes.scales / 4),
          bytes.factors > 0 ? factors + block / 4 * 16 : nullptr};
}

/// The sums of a thread block: products of its lanes' panels with its rows of x, which the user of this class
/// copies to shared memory.
template <class Format, class Shape>
class StreamedSums {
 public:
  static constexpr int tiles = Shape::shape.tiles, sharers = Shape::shape.sharers;
  static constexpr int x_tiles = Shape::shape.x_tiles(), lanes = Shape::shape.lanes();
  static constexpr int segments = Shape::shape.segments, threads = 32 * Shape::shape.warps;
  static constexpr bool in_bulk = Shape::shape.columns == Columns::streamed;
  static constexpr FormatBytes bytes = Format::bytes;
  static constexpr StreamedMemory memory{Shape::shape, Format::bytes};
  static constexpr int ring = StreamedMemory::ring, at_once = StreamedMemory::blocks;

 private:
  using Block = BlockProduct<Format, tiles>;
  /// Number of tree levels above four segments.
  static constexpr int levels = segments == 8 ? 1 : segments == 16 ? 2 : 3;

  const u32 (&table_)[4];
  const int blocks_, part_, runs_ = (blocks_ + 31) / 32, count_ = segments / at_once * runs_;  // chunks
  const int lane_ = thread() & 31, warp_ = thread() >> 5, sharer_ = warp_ % sharers;
  const u32 base_ = shared_address(shared_memory());

 public:
  /// Computes split-K part `part` of the segments.
  SPECTR_DEVICE StreamedSums(const u32 (&table)[4], int blocks, int part)
      : table_(table), blocks_(blocks), part_(part) {}

  /// Returns the lane of the thread block to which this thread's warp belongs.
  static SPECTR_DEVICE int lane_of_group() { return (thread() >> 5) / sharers; }

  /// Initializes the barriers. Must be called by all threads before the first run().
  SPECTR_DEVICE void start() const {
    if constexpr (in_bulk) {
      if (thread() == 0) {
        for (int i = 0; i < ring; ++i) start_barrier(barrier(i), lanes + 1);
        publish_barriers();
      }
      group_barrier();
    }
  }

  /// Computes all sums. Calls before_x() between the first copies of weights and those of x; copy_x(slot,
  /// block, n) to start copies of n blocks of x to place_of_x(); and store(row of x, row of the panel, sum)
  /// at the end. Several runs need a group barrier in between, and copies by threads.
  template <class BeforeX, class CopyX, class Store>
  SPECTR_DEVICE void run(const PanelPlace& panel, const BeforeX& before_x, const CopyX& copy_x,
                         const Store& store) const {
    const int ahead = count_ < ring - 1 ? count_ : ring - 1;
    const auto fetch_x = [&](int q) { copy_x(q % ring, first_block(q), present(first_block(q))); };
    for (int q = 0; q < ahead; ++q) fetch_weights(panel, q);
    before_x();
    for (int q = 0; q < ring - 1; ++q) {
      if (q < ahead) fetch_x(q);
      if constexpr (!in_bulk) end_copies();
    }

    float pending[levels][tiles][4] = {};  // left operands of pending pairs of the tree
    float acc[at_once][tiles][4] = {};
    int q = 0;
    for (int four = 0; four < segments / at_once; ++four) {
      for (int j = 0; j < runs_; ++j, ++q) {
        await(q);
        group_barrier();  // the chunk has arrived for all threads, and the previous slot is free
        const int next = q + ring - 1;
        if (next < count_) {
          fetch_weights(panel, next);
          fetch_x(next);
        }
        if constexpr (!in_bulk) end_copies();
        if (!panel.is_there) continue;
        if (j == 0) {
          sum_chunk(q, acc, IsFirst<true>());
        } else {
          sum_chunk(q, acc, IsFirst<false>());
        }
      }
      if (panel.is_there) finish(four, acc, pending, store);
    }
  }

  /// Addresses of x in block i of a slot; tiles are contiguous.
  struct XPlace {
    u32 codes, scales, sums;
  };
  SPECTR_DEVICE XPlace place_of_x(int slot, int i) const {
    const u32 at = place_of(slot);
    return {at + memory.x_at() + i * x_tiles * 512, at + memory.x_scales_at() + i * x_tiles * 64,
            at + memory.x_sums_at() + i * x_tiles * 64};
  }
  /// Returns the barrier that bulk copies to a slot signal.
  SPECTR_DEVICE u32 barrier(int slot) const { return base_ + memory.barriers_at() + 8 * slot; }

  /// Copies the share of thread `i` of `among`.
  static SPECTR_DEVICE void copy_share(u32 to, const void* from, int size, int i, int among) {
    for (int at = 16 * i; at < size; at += 16 * among) copy_line(to + at, static_cast<const u8*>(from) + at);
  }

 private:
  SPECTR_DEVICE u32 place_of(int slot) const { return base_ + slot * memory.slot_bytes(); }
  /// Returns the first block of a chunk.
  SPECTR_DEVICE int first_block(int q) const {
    return 32 * (q % runs_) + part_ * segments + q / runs_ * at_once;
  }
  /// Returns how many of its blocks exist.
  SPECTR_DEVICE int present(int block) const {
    const int left = blocks_ - block;
    return left < 0 ? 0 : left < at_once ? left : at_once;
  }

  SPECTR_DEVICE void await(int q) const {
    if constexpr (in_bulk) {
      wait(barrier(q % ring), q / ring & 1);
    } else {
      await_copies<ring - 2>();
    }
  }

  SPECTR_DEVICE void fetch_weights(const PanelPlace& panel, int q) const {
    const int b = first_block(q), n = panel.is_there ? present(b) : 0;
    const u32 to = place_of(q % ring) + lane_of_group() * memory.lane_bytes();
    const auto copy_all = [&](const auto& copy) {
      if (n == 0) return;
      copy(to, panel.codes + b * bytes.codes, n * bytes.codes);
      copy(to + memory.scales_at(), panel.scales + b * (bytes.scales / 4), n * bytes.scales);
      if constexpr (bytes.factors > 0)
        copy(to + memory.factors_at(), panel.factors + b / 4 * 16, n * (bytes.factors / 4));
    };
    if constexpr (in_bulk) {
      if (sharer_ != 0 || lane_ != 0) return;
      const u32 full = barrier(q % ring);
      expect_bytes(full, n * (bytes.codes + bytes.scales + bytes.factors / 4));
      copy_all([&](u32 at, const void* from, int size) { copy_to_shared(at, from, size, full); });
    } else {
      copy_all([&](u32 at, const void* from, int size) {
        copy_share(at, from, size, sharer_ * 32 + lane_, sharers * 32);
      });
    }
  }

  /// Adds a run of four segments to their sums.
  template <bool is_first>
  SPECTR_DEVICE void sum_chunk(int q, float (&acc)[at_once][tiles][4], IsFirst<is_first> first) const {
    const int left = blocks_ - first_block(q);
    if (left >= at_once) {
      SPECTR_UNROLL
      for (int s = 0; s < at_once; ++s) block(q % ring, s, acc[s], first);
    } else {
      SPECTR_UNROLL
      for (int s = 0; s < at_once; ++s) {
        if (is_first) Block::set(acc[s], {});
        if (s < left) block(q % ring, s, acc[s], first);
      }
    }
  }

  template <bool is_first>
  SPECTR_DEVICE void block(int slot, int s, float (&acc)[tiles][4], IsFirst<is_first> first) const {
    const u32 w = place_of(slot) + lane_of_group() * memory.lane_bytes();
    const XPlace x = place_of_x(slot, s);
    Block::add_to(
        acc,
        {w + s * bytes.codes, w + memory.scales_at() + s * bytes.scales, w + memory.factors_at(),
         x.codes + sharer_ * tiles * 512, x.scales + sharer_ * tiles * 64, x.sums + sharer_ * tiles * 64},
        table_, first);
  }

  /// Adds the sums of four segments to the tree, and stores the part's sums once the last ones are done.
  template <class Store>
  SPECTR_DEVICE void finish(int four, float (&acc)[at_once][tiles][4], float (&pending)[levels][tiles][4],
                            const Store& store) const {
    Block::add(acc[0], acc[1]);
    Block::add(acc[2], acc[3]);
    Block::add(acc[0], acc[2]);
    bool is_pair = true;
    SPECTR_UNROLL
    for (int level = 0; level < levels; ++level) {
      if (!is_pair) continue;
      is_pair = (four >> level & 1) != 0;
      if (is_pair) {
        Block::add(pending[level], acc[0]);
        Block::set(acc[0], pending[level]);
      } else {
        Block::set(pending[level], acc[0]);
      }
    }
    if (!is_pair) return;
    const int g = lane_ >> 2, t = lane_ & 3;
    SPECTR_UNROLL
    for (int x = 0; x < tiles; ++x) {
      SPECTR_UNROLL
      for (int k = 0; k < 4; ++k) {
        store((sharer_ * tiles + x) * 8 + 2 * t + (k & 1), g + 8 * (k >> 1),
              add(acc[0][x][k], 0.0f));  // −0 becomes 0
      }
    }
  }
};

/// A thread block has `lanes` panels, a slab of x, and a split-K part of the segments.
template <class Format, class Shape>
class StreamedProductKernel {
  using Sums = StreamedSums<Format, Shape>;
  static constexpr int parts = Shape::shape.parts();
  static constexpr FormatBytes bytes = Format::bytes;

  const Product& p_;
  const int slab_ = group_x() % p_.slabs, part_ = group_x() / p_.slabs % parts;
  const int panel_ = group_x() / p_.slabs / parts * Sums::lanes + Sums::lane_of_group();
  const ProductMatrix& w_ = p_.w[panel_ >= p_.w[2].first ? 2 : panel_ >= p_.w[1].first ? 1 : 0];
  const Sums sums_;

 public:
  explicit SPECTR_DEVICE StreamedProductKernel(const Product& p) : p_(p), sums_(p.table, p.blocks, part_) {}

  SPECTR_DEVICE void run() const {
    const long block = static_cast<long>(panel_ - w_.first) * p_.blocks;
    sums_.start();
    sums_.run(
        panel_place<Format>(panel_ < p_.panels, w_.codes, w_.scales, w_.factors, block),
        [&] {
          dependents();
          predecessors();
        },
        [&](int slot, int b, int n) { copy_x(slot, b, n); },
        [&](int x, int row, float sum) {
          const int of_x = slab_ * 64 + x, of_w = (panel_ - w_.first) * 16 + row;
          if (of_x < p_.n && of_w < w_.rows)
            w_.y[(static_cast<long>(part_) * p_.n + of_x) * w_.stride + of_w] = sum;
        });
  }

 private:
  SPECTR_DEVICE void copy_x(int slot, int b, int n) const {
    constexpr int numbers = bytes.takes_sums ? 2 : 1;
    const typename Sums::XPlace to = sums_.place_of_x(slot, 0);
    const int count = n * Sums::x_tiles;  // tiles
    const auto copy_all = [&](const auto& copy) {
      if (n == 0) return;
      const long from = static_cast<long>(b) * Sums::x_tiles, slab = slab_ * p_.slab;
      copy(to.codes, p_.x + slab + from * 512, count * 512);
      copy(to.scales, p_.x_scales + slab / 4 + from * 16, count * 64);
      if constexpr (bytes.takes_sums) copy(to.sums, p_.x_sums + slab / 4 + from * 16, count * 64);
    };
    if constexpr (Sums::in_bulk) {
      if (thread() != 0) return;
      const u32 full = sums_.barrier(slot);
      expect_bytes(full, count * (512 + numbers * 64));
      copy_all([&](u32 at, const void* from, int size) { copy_to_shared(at, from, size, full); });
    } else {
      copy_all([&](u32 at, const void* from, int size) {
        Sums::copy_share(at, from, size, thread(), Sums::threads);
      });
    }
  }
};

/// Selects the product kernel of a shape.
template <class Format, class Shape, bool is_streamed = Shape::shape.is_streamed()>
struct ProductKernelOf {
  using Kernel = ProductKernel<Format, Shape>;
};
template <class Format, class Shape>
struct ProductKernelOf<Format, Shape, true> {
  using Kernel = StreamedProductKernel<Format, Shape>;
};

}  // namespace spectr::cuda
