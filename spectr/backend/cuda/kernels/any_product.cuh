#pragma once

// y = W x for quantized weights of any shape: what product.cuh has no room for in shared memory, with the
// same bits. A warp has a row of W and one of x, and each of its lanes a segment.

#include "spectr/backend/cuda/kernels/elementwise.cuh"
#include "spectr/backend/cuda/kernels/panels.cuh"

namespace spectr::cuda {

/// Grid (rows / 4, rows of x).
struct AnyProductKernel {
  static constexpr int threads = 128;

  static SPECTR_DEVICE void run(const AnyProduct& p, int group = group_x()) {
    dependents();
    predecessors();
    const int row = group * 4 + thread() / 32, lane = thread() % 32, r = group_y();
    if (row >= p.rows) return;  // a whole warp
    float sum = 0;
    for (int b = lane; b < p.blocks; b += 32) {
      const long tile = static_cast<long>(b) * p.x.tiles + r % 64 / 8, slab = r / 64 * p.x.slab;
      u32 q[16];
      load_x(reinterpret_cast<const Four*>(p.x.codes + slab) + tile * 32 + r % 8 * 4, q);
      const long at = slab / 4 + tile * 16 + r % 8 / 2 * 4 + r % 2;
      const long block = static_cast<long>(row / 16) * p.blocks + b;
      SPECTR_UNROLL
      for (int h = 0; h < 2; ++h) {
        const float t = half_of_block(p.w, block, row % 16, h, q);
        sum = add(sum, mul(load(p.x.scales + at + 2 * h), t));
      }
    }
    sum = sum_of_lanes<32>(sum);
    if (lane == 0) row_of(p.y, r)[row] = add(sum, 0.0f);
  }
};

}  // namespace spectr::cuda
