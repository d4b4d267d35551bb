#pragma once

// y = W x by packed dot products, bitwise equal to product.cuh, for cases without its kernels: x too large
// for shared memory, products by head or by expert, and GPUs before Hopper.

#include "spectr/backend/cuda/kernels/elementwise.cuh"
#include "spectr/backend/cuda/kernels/panels.cuh"

namespace spectr::cuda {

/// Multiplies a panel of 16 rows of W by up to `together` rows of x in a thread block. A thread has a row of
/// the panel and a segment: the blocks b ≡ segment mod 32, ascending. Weights are read once.
template <int together>  // limited by registers; results are bitwise independent of it
struct PanelProduct {
  static constexpr int threads = 512;

  /// Calls store(i, row, y) for the rows of the panel and the first `count` rows of x, where row_of_x(i) is
  /// the i-th of them. Must be called by all threads of the block.
  template <class RowOf, class Store>
  static SPECTR_DEVICE void run(const Panels& w, long panel, int blocks, const QuantizedRows& x, int count,
                                RowOf row_of_x, Store store) {
    SPECTR_SHARED float pairs[together][16][16];  // [row of x][pair of segments][row]
    const int row = thread() % 16, segment = thread() / 16;
    float sums[together] = {};
    for (int b = segment; b < blocks; b += 32)
      add_block(w, panel * blocks + b, row, x, b, count, row_of_x, sums);
    SPECTR_UNROLL
    for (int i = 0; i < together; ++i) {
      const float pair = add(sums[i], shuffle_xor(sums[i], 16));
      if (segment % 2 == 0) pairs[i][segment / 2][row] = pair;
    }
    group_barrier();
    if (segment < count) store(segment, row, add(sum_of_pairs(pairs[segment], row), 0.0f));
    group_barrier();  // the pairs may still be read
  }

 private:
  /// Adds the contribution of block b to the rows' sums. Loads all of x first, so that weights are read once.
  template <class RowOf>
  static SPECTR_DEVICE void add_block(const Panels& w, long block, int row, const QuantizedRows& x, int b,
                                      int count, RowOf row_of_x, float (&sums)[together]) {
    u32 q[together][16] = {};
    float scales[together][2] = {};
    SPECTR_UNROLL
    for (int i = 0; i < together; ++i) {
      if (i >= count) continue;
      const int r = row_of_x(i);
      const long tile = static_cast<long>(b) * x.tiles + r % 64 / 8, slab = r / 64 * x.slab;
      load_x(reinterpret_cast<const Four*>(x.codes + slab) + tile * 32 + r % 8 * 4, q[i]);
      const long at = slab / 4 + tile * 16 + r % 8 / 2 * 4 + r % 2;
      scales[i][0] = load(x.scales + at);
      scales[i][1] = load(x.scales + at + 2);
    }
    SPECTR_UNROLL
    for (int i = 0; i < together; ++i) {
      if (i >= count) continue;
      SPECTR_UNROLL
      for (int h = 0; h < 2; ++h)
        sums[i] = add(sums[i], mul(scales[i][h], half_of_block(w, block, row, h, q[i])));
    }
  }

  static SPECTR_DEVICE float sum_of_pairs(const float (&pairs)[16][16], int row) {
    float sums[16];
    SPECTR_UNROLL
    for (int k = 0; k < 16; ++k) sums[k] = pairs[k][row];
    SPECTR_UNROLL
    for (int h = 1; h < 16; h *= 2) {
      SPECTR_UNROLL
      for (int k = 0; k < 16; k += 2 * h) sums[k] = add(sums[k], sums[k + h]);
    }
    return sums[0];
  }
};

/// Grid: (rows / 16, rows of x / together).
template <int together>
struct AnyProductKernel {
  static constexpr int threads = PanelProduct<together>::threads;

  static SPECTR_DEVICE void run(const AnyProduct& p, int panel = group_x()) {
    dependents();
    predecessors();
    const int first = group_y() * together, left = p.n - first;
    PanelProduct<together>::run(
        p.w, panel, p.blocks, p.x, left < together ? left : together, [&](int i) { return first + i; },
        [&](int i, int row, float y) {
          if (panel * 16 + row < p.rows) row_of(p.y, first + i)[panel * 16 + row] = y;
        });
  }
};

}  // namespace spectr::cuda
