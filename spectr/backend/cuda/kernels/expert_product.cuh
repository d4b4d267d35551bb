#pragma once

// y = W x for the slots that have chosen an expert, W being the expert's: the bits of product.cuh and of
// float_product.cuh. Slots of one expert go through its weights together, so that these come from memory
// once.

#include "spectr/backend/cuda/kernels/float_product.cuh"
#include "spectr/backend/cuda/kernels/panels.cuh"

namespace spectr::cuda {

SPECTR_DEVICE ExpertGroup load(const ExpertGroup* group) {
  return {load(&group->block), load(&group->begin), load(&group->size)};
}

/// Quantized weights. A group of threads has a panel of 16 rows, a thread one of them and one segment: the
/// blocks b ≡ segment mod 32, ascending. Grid (rows / 16, groups of slots).
template <int together>  // slots at a time: registers for more, and no bit depends on it
struct ExpertProductKernel {
  static constexpr int threads = 512;

  static SPECTR_DEVICE void run(const ExpertProduct& p) {
    SPECTR_SHARED float pairs[together][16][16];  // [slot][pair of segments][row]
    dependents();
    predecessors();
    const ExpertGroup group = load(p.lists.groups + group_y());
    const int row = thread() % 16, segment = thread() / 16;
    const int panels = (p.rows + 15) / 16;
    const long panel = static_cast<long>(group.block) * panels + group_x();
    for (int first = 0; first < group.size; first += together) {
      const int left = group.size - first, count = left < together ? left : together;
      const int* const slots = p.lists.slots + group.begin + first;
      float sums[together] = {};
      for (int b = segment; b < p.blocks; b += 32) add_block(p, panel * p.blocks, b, row, slots, count, sums);
      SPECTR_UNROLL
      for (int i = 0; i < together; ++i) {
        const float pair = add(sums[i], shuffle_xor(sums[i], 16));
        if (segment % 2 == 0) pairs[i][segment / 2][row] = pair;
      }
      group_barrier();
      const int i = segment, column = group_x() * 16 + row;
      if (i < count && column < p.rows)
        row_of(p.y, load(slots + i))[column] = add(sum_of_pairs(pairs[i], row), 0.0f);
      group_barrier();
    }
  }

 private:
  /// Adds what block b behind `first` gives to each slot's segment. All of x is loaded first: then weights
  /// are read once.
  static SPECTR_DEVICE void add_block(const ExpertProduct& p, long first, int b, int row, const int* slots,
                                      int count, float (&sums)[together]) {
    u32 q[together][16] = {};
    float scales[together][2] = {};
    SPECTR_UNROLL
    for (int i = 0; i < together; ++i) {
      if (i >= count) continue;
      const int r = load(slots + i) / p.sharers;
      const long tile = static_cast<long>(b) * p.x.tiles + r % 64 / 8, slab = r / 64 * p.x.slab;
      load_x(reinterpret_cast<const Four*>(p.x.codes + slab) + tile * 32 + r % 8 * 4, q[i]);
      const long at = slab / 4 + tile * 16 + r % 8 / 2 * 4 + r % 2;
      scales[i][0] = load(p.x.scales + at);
      scales[i][1] = load(p.x.scales + at + 2);
    }
    SPECTR_UNROLL
    for (int i = 0; i < together; ++i) {
      if (i >= count) continue;
      SPECTR_UNROLL
      for (int h = 0; h < 2; ++h)
        sums[i] = add(sums[i], mul(scales[i][h], half_of_block(p.w, first + b, row, h, q[i])));
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

/// Weights in floats, halves or bfloat16. A warp has a row of W, each of its lanes a segment. Grid (rows / 4,
/// groups of slots).
struct ExpertFloatProductKernel {
  static constexpr int threads = 128, together = 4;

  static SPECTR_DEVICE void run(const ExpertFloatProduct& p) {
    dependents();
    predecessors();
    const ExpertGroup group = load(p.lists.groups + group_y());
    const int row = group_x() * 4 + thread() / 32, lane = thread() % 32;
    const FloatProduct& w = p.product;
    if (row >= w.rows) return;  // a whole warp
    const long at = (static_cast<long>(group.block) * w.rows + row) * w.cols;
    for (int first = 0; first < group.size; first += together) {
      const int left = group.size - first, count = left < together ? left : together;
      const int* const slots = p.lists.slots + group.begin + first;
      const float* x[together] = {};
      SPECTR_UNROLL
      for (int i = 0; i < together; ++i) {
        if (i < count) x[i] = row_of(w.x, load(slots + i) / p.sharers);
      }
      float sums[together] = {};
      for (int b = lane; b * 64 < w.cols; b += 32) {
        const int end = b * 64 + 64 < w.cols ? b * 64 + 64 : w.cols;
        float t[together] = {};
        for (int j = b * 64; j < end; ++j) {
          const float weight = FloatProductKernel::weight(w, at + j);
          SPECTR_UNROLL
          for (int i = 0; i < together; ++i) {
            if (i < count) t[i] = add(t[i], mul(weight, load(x[i] + j)));
          }
        }
        SPECTR_UNROLL
        for (int i = 0; i < together; ++i) sums[i] = add(sums[i], t[i]);
      }
      SPECTR_UNROLL
      for (int i = 0; i < together; ++i) {
        const float sum = sum_of_lanes<32>(sums[i]);
        if (lane == 0 && i < count) row_of(w.y, load(slots + i))[row] = add(sum, 0.0f);
      }
    }
  }
};

}  // namespace spectr::cuda
