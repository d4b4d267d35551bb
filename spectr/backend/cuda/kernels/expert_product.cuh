#pragma once

// y = W x for slots, where W is the matrix of the slot's expert; bitwise equal to product.cuh and
// float_product.cuh. The slots of one expert are processed together, so that its weights are read from memory
// once.

#include "spectr/backend/cuda/kernels/float_product.cuh"
#include "spectr/backend/cuda/kernels/panel_product.cuh"

namespace spectr::cuda {

SPECTR_DEVICE ExpertGroup load(const ExpertGroup* group) {
  return {load(&group->block), load(&group->begin), load(&group->size)};
}

/// The product with quantized weights. Grid: (rows / 16, groups of slots).
template <int together>  // slots at a time
struct ExpertProductKernel {
  static constexpr int threads = PanelProduct<together>::threads;

  static SPECTR_DEVICE void run(const ExpertProduct& p) {
    dependents();
    predecessors();
    const ExpertGroup group = load(p.lists.groups + group_y());
    const int panels = (p.rows + 15) / 16;
    const long panel = static_cast<long>(group.block) * panels + group_x();
    for (int first = 0; first < group.size; first += together) {
      const int left = group.size - first;
      const int* const slots = p.lists.slots + group.begin + first;
      PanelProduct<together>::run(
          p.w, panel, p.blocks, p.x, left < together ? left : together,
          [&](int i) { return load(slots + i) / p.sharers; },
          [&](int i, int row, float y) {
            const int column = group_x() * 16 + row;
            if (column < p.rows) row_of(p.y, load(slots + i))[column] = y;
          });
    }
  }
};

/// The product with f32, f16 or bf16 weights. A warp has a row of W, and a lane has a segment. Grid: (rows /
/// 4, groups of slots).
struct ExpertFloatProductKernel {
  static constexpr int threads = 128, together = 4;

  static SPECTR_DEVICE void run(const ExpertFloatProduct& p) {
    dependents();
    predecessors();
    const ExpertGroup group = load(p.lists.groups + group_y());
    const int row = group_x() * 4 + thread() / 32, lane = thread() % 32;
    const FloatProduct& w = p.product;
    if (row >= w.rows) return;  // exits as a whole warp
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
