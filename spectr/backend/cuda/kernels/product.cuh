#pragma once

// y = W x for a quantized matrix W and 1 to 64 quantized rows x: one kernel for every width and format. The
// bits of a result depend only on W and its row of x.
//
//   half h of block b:  t(b, h) = s · float(Σ c q)  [ − m · float(Σ q) ],  each product and sum rounded;
//                       with scales of 16 columns, plus the second one's term: + s' · float(…)  [ − m' · … ]
//   segment g of 32:    p(g) = Σ over blocks b ≡ g mod 32, ascending, and their halves, of a(b, h) · t(b, h)
//   y = ((p(0) + p(1)) + (p(2) + p(3))) + …, neighbours first
//
// Here c are codes of W with scale s and minimum m, and x ≈ a q. twins.h has the same sums as plain loops.
//
// Weights are copied to shared memory by bulk copies, as many stretches ahead as the ring has slots. The
// first copies start before the kernel waits for its predecessors, because weights do not depend on them: a
// matrix is loaded while the previous kernel computes. A warp processes a panel of 16 rows × a stretch of 8
// segments at a time, with the sums in registers. Warps synchronize only once, at the start.
//
// A launch has up to three matrices, whose panels are numbered consecutively. Split-K: matrices with few rows
// are shared by `parts` thread blocks, each of which sums 32 / parts segments, the lowest levels of the tree.
// The reader of y sums the parts.

#include "spectr/backend/cuda/kernels/block_product.cuh"
#include "spectr/backend/cuda/kernels/parameters.h"
#include "spectr/backend/cuda/product_shape.h"

namespace spectr::cuda {

template <class Format, class Shape>
class ProductKernel {
  static constexpr int tiles = Shape::shape.tiles, sharers = Shape::shape.sharers;
  static constexpr int segments = Shape::shape.segments, x_tiles = Shape::shape.x_tiles();
  static constexpr int lanes = Shape::shape.lanes(), parts = Shape::shape.parts();
  static constexpr int stretches = Shape::shape.stretches();
  static constexpr bool one_run = Shape::shape.columns == Columns::short_run;
  static constexpr FormatBytes bytes = Format::bytes;
  using Block = BlockProduct<Format, tiles>;
  /// Segments that are summed at a time, limited by registers.
  static constexpr int at_once = tiles == 1 ? 8 : 4;

  const Product& p_;
  const int lane_ = thread() & 31, warp_ = thread() >> 5, sharer_ = warp_ % sharers;
  const int which_ = warp_ / sharers;  // lane in the thread block
  const int part_ = group_x() % parts, first_ = group_x() / parts, stride_ = groups_x() / parts;
  const ProductMemory memory_;
  const u32 base_ = shared_address(shared_memory());

 public:
  SPECTR_DEVICE explicit ProductKernel(const Product& p) : p_(p), memory_(memory(p)) {}

  SPECTR_DEVICE void run() {
    const int units = first_ < p_.panels ? (p_.panels - first_ + stride_ - 1) / stride_ : 0;
    const int mine = units > which_ ? (units - which_ + lanes - 1) / lanes : 0, count = mine * stretches;
    if (thread() == 0) start_barriers();
    group_barrier();
    const bool fetches = sharer_ == 0 && lane_ == 0;
    if (fetches) {
      for (int q = 0; q < p_.ring && q < count; ++q) fetch(q);
    }
    dependents();
    predecessors();
    if (count == 0) return;  // the first warp has none only if no warp has any
    if (thread() == 0) fetch_x();
    wait(base_ + memory_.x_barrier_at(), 0);

    float unfinished[2][tiles][4] = {};  // pending pairs of the tree above eight segments
    for (int q = 0; q < count; ++q) {
      const u32 slot = q % p_.ring, full = barrier(slot), empty = full + 8 * p_.ring,
                parity = q / p_.ring & 1;
      wait(full, parity);
      float sums[tiles][4];
      stretch(slot, q % stretches, sums);
      warp_barrier();
      if (sharers > 1 && lane_ == 0) arrive(empty);
      if (fetches && q + p_.ring < count) {
        if (sharers > 1) wait(empty, parity);
        fetch(q + p_.ring);
      }
      finish(q, sums, unfinished);
    }
  }

 private:
  static SPECTR_DEVICE ProductMemory memory(const Product& p) {
    constexpr ProductShape shape = Shape::shape;
    constexpr FormatBytes format = Format::bytes;
    return product_memory(shape, format, p.panels, p.blocks, groups_x(), p.ring);
  }
  SPECTR_DEVICE u32 barrier(u32 slot) const {
    return base_ + memory_.barriers_at() + 16 * which_ * p_.ring + 8 * slot;
  }
  SPECTR_DEVICE int panel(int q) const { return first_ + (which_ + q / stretches * lanes) * stride_; }
  /// Returns the matrix of a panel.
  SPECTR_DEVICE const ProductMatrix& matrix(int panel) const {
    return p_.w[panel >= p_.w[2].first ? 2 : panel >= p_.w[1].first ? 1 : 0];
  }
  /// Returns how many of the blocks b … b + n − 1 exist.
  SPECTR_DEVICE int present(int b, int n) const {
    const int left = p_.blocks - b;
    return left < 0 ? 0 : left < n ? left : n;
  }

  SPECTR_DEVICE void start_barriers() const {
    const u32 barriers = base_ + memory_.barriers_at();
    for (int i = 0; i < memory_.used * p_.ring; ++i) {
      const int lane = i / p_.ring, slot = i % p_.ring;
      start_barrier(barriers + 16 * lane * p_.ring + 8 * slot, 1);
      start_barrier(barriers + 16 * lane * p_.ring + 8 * (p_.ring + slot), sharers);
    }
    start_barrier(base_ + memory_.x_barrier_at(), 1);
    publish_barriers();
  }

  /// Starts the copies of the weights of a panel's stretch.
  SPECTR_DEVICE void fetch(int q) const {
    const ProductMatrix& w = matrix(panel(q));
    const long row = static_cast<long>(panel(q) - w.first) * p_.blocks;
    const int begin = part_ * segments + q % stretches * 8;
    const u32 slot = q % p_.ring, to = base_ + (which_ * p_.ring + slot) * memory_.slot_bytes(),
              full = barrier(slot);
    int total = 0;
    for (int j = 0; j < memory_.runs; ++j) {
      total += present(32 * j + begin, 8) * (bytes.codes + bytes.scales + bytes.factors / 4);
    }
    expect_bytes(full, total);
    for (int j = 0; j < memory_.runs; ++j) {
      const int b = 32 * j + begin, n = present(b, 8);
      if (n == 0) break;
      const u32 scales = to + memory_.code_bytes() + j * 8 * bytes.scales;
      copy_to_shared(to + j * 8 * bytes.codes, w.codes + (row + b) * bytes.codes, n * bytes.codes, full);
      copy_to_shared(scales, w.scales + (row + b) * (bytes.scales / 4), n * bytes.scales, full);
      if constexpr (bytes.factors > 0) {
        const u32 factors = to + memory_.code_bytes() + memory_.scale_bytes() + j * 2 * bytes.factors;
        copy_to_shared(factors, w.factors + (row + b) / 4 * 16, n * 16, full);
      }
    }
  }

  SPECTR_DEVICE void fetch_x() const {
    constexpr int numbers = bytes.takes_sums ? 2 : 1;
    const u32 to = base_ + memory_.x_at(), scales = base_ + memory_.x_scales_at();
    const u32 sums = base_ + memory_.x_sums_at(), arrived = base_ + memory_.x_barrier_at();
    int total = 0;
    for (int j = 0; j < memory_.runs; ++j) {
      total += present(32 * j + part_ * segments, segments) * x_tiles * (512 + numbers * 64);
    }
    expect_bytes(arrived, total);
    for (int j = 0; j < memory_.runs; ++j) {
      const int b = 32 * j + part_ * segments, n = present(b, segments) * x_tiles;
      if (n == 0) break;
      const int at = j * segments * x_tiles;
      const long from = static_cast<long>(b) * x_tiles;
      copy_to_shared(to + at * 512, p_.x + from * 512, n * 512, arrived);
      copy_to_shared(scales + at * 64, p_.x_scales + from * 16, n * 64, arrived);
      if constexpr (bytes.takes_sums) copy_to_shared(sums + at * 64, p_.x_sums + from * 16, n * 64, arrived);
    }
  }

  /// Computes the sums of the stretch's eight segments, and their pairwise sum.
  SPECTR_DEVICE void stretch(u32 slot, int which, float (&sums)[tiles][4]) const {
    float first_half[tiles][4] = {};
    SPECTR_UNROLL
    for (int half = 0; half < 8 / at_once; ++half) {
      float acc[at_once][tiles][4];
      sum_segments(slot, which * 8 + half * at_once, acc);
      SPECTR_UNROLL
      for (int h = 1; h < at_once; h *= 2) {
        SPECTR_UNROLL
        for (int s = 0; s < at_once; s += 2 * h) Block::add(acc[s], acc[s + h]);
      }
      if (at_once == 8) {
        Block::set(sums, acc[0]);
      } else if (half == 0) {
        Block::set(first_half, acc[0]);
      } else {
        Block::set(sums, first_half);
        Block::add(sums, acc[0]);
      }
    }
  }

  /// Sets acc[i] to the sum of all blocks of the part's segment `begin` + i.
  SPECTR_DEVICE void sum_segments(u32 slot, int begin, float (&acc)[at_once][tiles][4]) const {
    const int b = part_ * segments + begin;
    if (b + at_once <= p_.blocks) {  // all segments have a block
      SPECTR_UNROLL
      for (int s = 0; s < at_once; ++s) block(slot, begin + s, 0, acc[s], IsFirst<true>());
      if constexpr (!one_run) {
        SPECTR_UNROLL_BY(1)
        for (int j = 1; j < memory_.runs; ++j) {
          // Do not use min(left, at_once) == at_once: ptxas 13.0 compiles it to code that gives other sums.
          const int left = p_.blocks - 32 * j - b;
          if (left >= at_once) {
            SPECTR_UNROLL
            for (int s = 0; s < at_once; ++s) block(slot, begin + s, j, acc[s], IsFirst<false>());
          } else {
            SPECTR_UNROLL
            for (int s = 0; s < at_once; ++s) {
              if (s < left) block(slot, begin + s, j, acc[s], IsFirst<false>());
            }
          }
        }
      }
    } else {
      SPECTR_UNROLL
      for (int s = 0; s < at_once; ++s) {
        SPECTR_UNROLL
        for (int x = 0; x < tiles; ++x) {
          SPECTR_UNROLL
          for (int k = 0; k < 4; ++k) acc[s][x][k] = 0;
        }
        if (b + s < p_.blocks) block(slot, begin + s, 0, acc[s], IsFirst<true>());
      }
    }
  }

  /// Adds block 32 j of the part's segment `s`.
  template <bool is_first>
  SPECTR_DEVICE void block(u32 slot, int s, int j, float (&acc)[tiles][4], IsFirst<is_first>) const {
    const int i = j * 8 + s % 8;  // block in the slot
    const u32 codes = base_ + (which_ * p_.ring + slot) * memory_.slot_bytes(),
              scales = codes + memory_.code_bytes();
    const int x_block = ((one_run ? 0 : j * segments) + s) * x_tiles + sharer_ * tiles;
    const u32 x_codes = base_ + memory_.x_at() + x_block * 512;
    const u32 x_scales = base_ + memory_.x_scales_at() + x_block * 64;
    const u32 x_sums = base_ + memory_.x_sums_at() + x_block * 64;
    Block::add_to(acc,
                  {codes + i * bytes.codes, scales + i * bytes.scales,
                   scales + memory_.scale_bytes() + i / 4 * bytes.factors, x_codes, x_scales, x_sums},
                  p_.table, IsFirst<is_first>());
  }

  /// Adds the sum of a stretch to the tree, and writes y once the part's last stretch is done.
  SPECTR_DEVICE void finish(int q, float (&sums)[tiles][4], float (&unfinished)[2][tiles][4]) const {
    const int which = q % stretches;
    if constexpr (stretches == 2) {
      if (which == 0) return Block::set(unfinished[0], sums);
      Block::add(unfinished[0], sums);
    }
    if constexpr (stretches == 4) {
      if (which == 0) return Block::set(unfinished[0], sums);
      if (which == 1) return Block::add(unfinished[0], sums);
      if (which == 2) return Block::set(unfinished[1], sums);
      Block::add(unfinished[1], sums);
      Block::add(unfinished[0], unfinished[1]);
    }
    const auto& done = stretches == 1 ? sums : unfinished[0];
    const int g = lane_ >> 2, t = lane_ & 3;
    const ProductMatrix& w = matrix(panel(q));
    const int first = (panel(q) - w.first) * 16 + g;
    SPECTR_UNROLL
    for (int x = 0; x < tiles; ++x) {
      SPECTR_UNROLL
      for (int k = 0; k < 4; ++k) {
        const int of_x = (sharer_ * tiles + x) * 8 + 2 * t + (k & 1), row = first + 8 * (k >> 1);
        if (of_x < p_.n && row < w.rows) {
          w.y[(static_cast<long>(part_) * p_.n + of_x) * w.stride + row] =
              add(done[x][k], 0.0f);  // −0 becomes 0
        }
      }
    }
  }
};

}  // namespace spectr::cuda
