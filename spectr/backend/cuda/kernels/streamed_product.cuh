#pragma once

// y = W x as in product.cuh, with its bits, where x has no room in shared memory or has many rows: prompts. A
// group of threads takes a panel of W for each lane and up to 64 rows of x, and goes through the columns in
// chunks of four blocks: those of four segments, run after run. A chunk's weights and its part of x come to
// shared memory together, two chunks ahead. Groups of the same panels follow one another, so that weights
// come from memory once, and from the second cache for all further rows of x.
//
// Weights come by bulk copies, which one thread asks for and barriers wait for; or, before Hopper, by copies
// of 16 bytes, of which each thread asks for its own and waits for these, before all of them meet.

#include "spectr/backend/cuda/kernels/block_product.cuh"
#include "spectr/backend/cuda/kernels/parameters.h"
#include "spectr/backend/cuda/kernels/product.cuh"
#include "spectr/backend/cuda/product_shape.h"

namespace spectr::cuda {

template <class Format, class Shape>
class StreamedProductKernel {
  static constexpr int tiles = Shape::shape.tiles, sharers = Shape::shape.sharers;
  static constexpr int x_tiles = Shape::shape.x_tiles(), lanes = Shape::shape.lanes();
  static constexpr int parts = Shape::shape.parts(), segments = Shape::shape.segments;
  static constexpr bool in_bulk = Shape::shape.columns == Columns::streamed;
  static constexpr FormatBytes bytes = Format::bytes;
  static constexpr StreamedMemory memory{Shape::shape, Format::bytes};
  static constexpr int ring = StreamedMemory::ring, at_once = StreamedMemory::blocks;
  /// Of the tree above four segments.
  static constexpr int levels = segments == 8 ? 1 : segments == 16 ? 2 : 3;

  const Product& p_;
  const int lane_ = thread() & 31, warp_ = thread() >> 5, sharer_ = warp_ % sharers;
  const int which_ = warp_ / sharers;  // lane of the group
  const int slab_ = group_x() % p_.slabs, part_ = group_x() / p_.slabs % parts;
  const int panel_ = group_x() / p_.slabs / parts * lanes + which_;
  const int runs_ = (p_.blocks + 31) / 32, count_ = segments / at_once * runs_;  // chunks
  const u32 base_ = shared_address(shared_memory());

 public:
  SPECTR_DEVICE explicit StreamedProductKernel(const Product& p) : p_(p) {}

  SPECTR_DEVICE void run() {
    if constexpr (in_bulk) {
      if (thread() == 0) start_barriers();
      group_barrier();
    }
    const int ahead = count_ < ring - 1 ? count_ : ring - 1;
    for (int q = 0; q < ahead; ++q) fetch_weights(q);
    if (!p_.late) dependents();
    predecessors();
    for (int q = 0; q < ring - 1; ++q) {
      if (q < ahead) fetch_x(q);
      if constexpr (!in_bulk) end_copies();
    }
    if (p_.late && ahead == count_) dependents();

    float pending[levels][tiles][4] = {};  // first ones of pairs of the tree
    float acc[at_once][tiles][4] = {};
    int q = 0;
    for (int four = 0; four < segments / at_once; ++four) {
      for (int j = 0; j < runs_; ++j, ++q) {
        await(q);
        group_barrier();  // all is there, for all; and nobody reads the slot before this one any more
        const int next = q + ring - 1;
        if (next < count_) {
          fetch_weights(next);
          fetch_x(next);
          if (p_.late && next + 1 == count_) dependents();
        }
        if constexpr (!in_bulk) end_copies();
        if (!has_panel()) continue;
        if (j == 0) {
          sum_chunk(q % ring, four, j, acc, IsFirst<true>());
        } else {
          sum_chunk(q % ring, four, j, acc, IsFirst<false>());
        }
      }
      if (has_panel()) finish(four, acc, pending);
    }
  }

 private:
  SPECTR_DEVICE bool has_panel() const { return panel_ < p_.panels; }
  SPECTR_DEVICE const ProductMatrix& matrix() const {
    return p_.w[panel_ >= p_.w[2].first ? 2 : panel_ >= p_.w[1].first ? 1 : 0];
  }
  SPECTR_DEVICE u32 slot(int i) const { return base_ + i * memory.slot_bytes(); }
  SPECTR_DEVICE u32 barrier(int i) const { return base_ + memory.barriers_at() + 8 * i; }
  /// The first block of a run's four.
  SPECTR_DEVICE int first_block(int four, int j) const { return 32 * j + part_ * segments + four * at_once; }
  /// Of these four those that are there.
  SPECTR_DEVICE int present(int block) const {
    const int left = p_.blocks - block;
    return left < 0 ? 0 : left < at_once ? left : at_once;
  }

  SPECTR_DEVICE void start_barriers() const {
    for (int i = 0; i < ring; ++i) start_barrier(barrier(i), lanes + 1);
    publish_barriers();
  }

  SPECTR_DEVICE void await(int q) const {
    if constexpr (in_bulk) {
      wait(barrier(q % ring), q / ring & 1);
    } else {
      await_copies<ring - 2>();
    }
  }

  /// Copies what thread `i` of `threads` has to.
  static SPECTR_DEVICE void copy_share(u32 to, const void* from, int size, int i, int threads) {
    for (int at = 16 * i; at < size; at += 16 * threads) {
      copy_line(to + at, static_cast<const u8*>(from) + at);
    }
  }

  SPECTR_DEVICE void fetch_weights(int q) const {
    const int b = first_block(q / runs_, q % runs_), n = has_panel() ? present(b) : 0;
    const ProductMatrix& w = matrix();
    const long block = static_cast<long>(panel_ - w.first) * p_.blocks + b;
    const u32 to = slot(q % ring) + which_ * memory.lane_bytes();
    const auto copy_all = [&](const auto& copy) {
      if (n == 0) return;
      copy(to, w.codes + block * bytes.codes, n * bytes.codes);
      copy(to + memory.scales_at(), w.scales + block * (bytes.scales / 4), n * bytes.scales);
      if constexpr (bytes.factors > 0)
        copy(to + memory.factors_at(), w.factors + block / 4 * 16, n * (bytes.factors / 4));
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

  SPECTR_DEVICE void fetch_x(int q) const {
    constexpr int numbers = bytes.takes_sums ? 2 : 1;
    const int b = first_block(q / runs_, q % runs_), n = present(b) * x_tiles;
    const u32 to = slot(q % ring);
    const auto copy_all = [&](const auto& copy) {
      if (n == 0) return;
      const long from = static_cast<long>(b) * x_tiles, slab = slab_ * p_.slab;
      copy(to + memory.x_at(), p_.x + slab + from * 512, n * 512);
      copy(to + memory.x_scales_at(), p_.x_scales + slab / 4 + from * 16, n * 64);
      if constexpr (bytes.takes_sums) copy(to + memory.x_sums_at(), p_.x_sums + slab / 4 + from * 16, n * 64);
    };
    if constexpr (in_bulk) {
      if (thread() != 0) return;
      const u32 full = barrier(q % ring);
      expect_bytes(full, n * (512 + numbers * 64));
      copy_all([&](u32 at, const void* from, int size) { copy_to_shared(at, from, size, full); });
    } else {
      copy_all([&](u32 at, const void* from, int size) {
        copy_share(at, from, size, thread(), 32 * Shape::shape.warps);
      });
    }
  }

  /// Adds run j of four segments to their sums.
  template <bool is_first>
  SPECTR_DEVICE void sum_chunk(int i, int four, int j, float (&acc)[at_once][tiles][4],
                               IsFirst<is_first> first) const {
    const int left = p_.blocks - first_block(four, j);
    if (left >= at_once) {
      SPECTR_UNROLL
      for (int s = 0; s < at_once; ++s) block(i, s, acc[s], first);
    } else {
      SPECTR_UNROLL
      for (int s = 0; s < at_once; ++s) {
        if (is_first) set(acc[s], {});
        if (s < left) block(i, s, acc[s], first);
      }
    }
  }

  template <bool is_first>
  SPECTR_DEVICE void block(int i, int s, float (&acc)[tiles][4], IsFirst<is_first> first) const {
    const u32 at = slot(i), w = at + which_ * memory.lane_bytes();
    const int tile = s * x_tiles + sharer_ * tiles;
    BlockProduct<Format, tiles>::add_to(
        acc,
        {w + s * bytes.codes, w + memory.scales_at() + s * bytes.scales, w + memory.factors_at(),
         at + memory.x_at() + tile * 512, at + memory.x_scales_at() + tile * 64,
         at + memory.x_sums_at() + tile * 64},
        p_.table, first);
  }

  /// Takes the sums of four segments up the tree, and writes y when the part's last ones are there.
  SPECTR_DEVICE void finish(int four, float (&acc)[at_once][tiles][4],
                            float (&pending)[levels][tiles][4]) const {
    add_to(acc[0], acc[1]);
    add_to(acc[2], acc[3]);
    add_to(acc[0], acc[2]);
    bool is_pair = true;
    SPECTR_UNROLL
    for (int level = 0; level < levels; ++level) {
      if (!is_pair) continue;
      is_pair = (four >> level & 1) != 0;
      if (is_pair) {
        add_to(pending[level], acc[0]);
        set(acc[0], pending[level]);
      } else {
        set(pending[level], acc[0]);
      }
    }
    if (!is_pair) return;
    const int g = lane_ >> 2, t = lane_ & 3;
    const ProductMatrix& w = matrix();
    const int first = (panel_ - w.first) * 16 + g;
    SPECTR_UNROLL
    for (int x = 0; x < tiles; ++x) {
      SPECTR_UNROLL
      for (int k = 0; k < 4; ++k) {
        const int of_x = slab_ * 64 + (sharer_ * tiles + x) * 8 + 2 * t + (k & 1), row = first + 8 * (k >> 1);
        if (of_x < p_.n && row < w.rows) {
          w.y[(static_cast<long>(part_) * p_.n + of_x) * w.stride + row] =
              add(acc[0][x][k], 0.0f);  // −0 becomes 0
        }
      }
    }
  }

  static SPECTR_DEVICE void set(float (&to)[tiles][4], const float (&from)[tiles][4]) {
    SPECTR_UNROLL
    for (int x = 0; x < tiles; ++x) {
      SPECTR_UNROLL
      for (int k = 0; k < 4; ++k) to[x][k] = from[x][k];
    }
  }
  static SPECTR_DEVICE void add_to(float (&to)[tiles][4], const float (&more)[tiles][4]) {
    SPECTR_UNROLL
    for (int x = 0; x < tiles; ++x) {
      SPECTR_UNROLL
      for (int k = 0; k < 4; ++k) to[x][k] = add(to[x][k], more[x][k]);
    }
  }
};

/// The kernel of a shape.
template <class Format, class Shape, bool is_streamed = Shape::shape.is_streamed()>
struct ProductKernelOf {
  using Kernel = ProductKernel<Format, Shape>;
};
template <class Format, class Shape>
struct ProductKernelOf<Format, Shape, true> {
  using Kernel = StreamedProductKernel<Format, Shape>;
};

}  // namespace spectr::cuda
