#pragma once

// y = W x for f32, f16 or bf16 weights. A warp has a row of W and a row of x. A lane has a segment: the
// blocks b ≡ lane mod 32, ascending, of 64 columns each.

#include "spectr/backend/cuda/kernels/elementwise.cuh"

namespace spectr::cuda {

/// Returns Σ w x, computed by a warp, in every lane; weight(j) is the j-th weight.
template <class Weight>
SPECTR_DEVICE float product_of_lanes(const float* x, int cols, Weight weight) {
  float sum = 0;
  for (int b = thread() % 32; b * 64 < cols; b += 32) {
    const int end = b * 64 + 64 < cols ? b * 64 + 64 : cols;
    float t = 0;
    for (int j = b * 64; j < end; ++j) t = add(t, mul(weight(j), load(x + j)));
    sum = add(sum, t);
  }
  return add(sum_of_lanes<32>(sum), 0.0f);  // −0 becomes 0
}

/// Grid: (rows / 4, rows of x).
struct FloatProductKernel {
  static constexpr int threads = 128;

  static SPECTR_DEVICE void run(const FloatProduct& p, int group = group_x()) {
    dependents();
    predecessors();
    const int row = group * 4 + thread() / 32;
    if (row >= p.rows) return;  // exits as a whole warp
    const long at = static_cast<long>(row) * p.cols;
    const float y =
        product_of_lanes(row_of(p.x, group_y()), p.cols, [&](int j) { return weight(p, at + j); });
    if (thread() % 32 == 0) row_of(p.y, group_y())[row] = y;
  }

  static SPECTR_DEVICE float weight(const FloatProduct& p, long i) {
    if (p.kind == 0) return reinterpret_cast<const float*>(p.weights)[i];
    const u32 bits = reinterpret_cast<const std::uint16_t*>(p.weights)[i];
    return p.kind == 1 ? low_half(bits) : float_of(bits << 16);
  }
};

}  // namespace spectr::cuda
