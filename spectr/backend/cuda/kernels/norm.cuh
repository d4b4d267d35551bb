#pragma once

// Norms of rows, or of groups of their columns.

#include "spectr/backend/cuda/kernels/elementwise.cuh"

namespace spectr::cuda {

/// A group of 512 threads for each group of columns: grid (rows, groups). Thread i has the columns
/// 4 i … 4 i + 3 of every 2048.
struct NormKernel {
  static constexpr int threads = 512;

  static SPECTR_DEVICE void run(const Norm& p) {
    SPECTR_SHARED float sums[threads / 32];
    dependents();
    predecessors();
    const long first = static_cast<long>(group_y()) * p.cols;
    float* const in = row_of(p.in, p.picked != nullptr ? p.picked[group_x()] : group_x()) + first;
    float* const out = row_of(p.out, group_x()) + first;
    if (p.added.at != nullptr) {
      const float* const added = row_of(p.added, group_x()) + first;
      for_columns(
          p.cols,
          [&](int i, Four v) {
            const Four more = four(added, i, p.cols);
            store(in, i, p.cols, sum_of_fours(v, more));
          },
          in);
    }
    float mean = 0;
    if (!p.is_rms) mean = mul(sum(p, in, sums, [](float v) { return v; }), p.part_of_mean);
    const float variance = mul(sum(p, in, sums,
                                   [&](float v) {
                                     const float d = p.is_rms ? v : sub(v, mean);
                                     return mul(d, d);
                                   }),
                               p.part_of_mean);
    const float factor = divide(1.0f, root(add(variance, p.epsilon)));
    for (int i = 4 * thread(); i < whole_lanes(p.cols); i += 4 * threads) {
      const Four v = four(in, i, p.cols);
      const float numbers[4] = {v.x, v.y, v.z, v.w};
      float x[4];
      SPECTR_UNROLL
      for (int k = 0; k < 4; ++k) {
        x[k] = 0;
        if (i + k >= p.cols) continue;
        x[k] = mul(mul(p.is_rms ? numbers[k] : sub(numbers[k], mean), factor),
                   p.weight != nullptr ? p.weight[i + k] : 1.0f);
        if (p.bias != nullptr) x[k] = add(x[k], p.bias[i + k]);
      }
      const Four y{x[0], x[1], x[2], x[3]};
      store(out, i, p.cols, y);
      if (p.quantized.codes != nullptr) quantize_four(y, group_x(), i, i < whole_blocks(p.cols), p.quantized);
    }
  }

 private:
  /// Lanes of a warp stay together.
  static SPECTR_DEVICE int whole_lanes(int cols) { return (cols + 127) / 128 * 128; }

  static SPECTR_DEVICE Four four(const float* x, int i, int cols) {
    return {i < cols ? load(x + i) : 0.0f, i + 1 < cols ? load(x + i + 1) : 0.0f,
            i + 2 < cols ? load(x + i + 2) : 0.0f, i + 3 < cols ? load(x + i + 3) : 0.0f};
  }
  static SPECTR_DEVICE void store(float* x, int i, int cols, Four v) {
    if (i < cols) x[i] = v.x;
    if (i + 1 < cols) x[i + 1] = v.y;
    if (i + 2 < cols) x[i + 2] = v.z;
    if (i + 3 < cols) x[i + 3] = v.w;
  }
  template <class Each>
  static SPECTR_DEVICE void for_columns(int cols, Each each, const float* x) {
    for (int i = 4 * thread(); i < cols; i += 4 * threads) each(i, four(x, i, cols));
  }

  /// Σ of(x), in every thread: those of a thread's columns, then the threads', neighbours first. A column
  /// that is missing gives 0.
  template <class Of>
  static SPECTR_DEVICE float sum(const Norm& p, const float* x, float* sums, Of of) {
    float mine = 0;
    for_columns(
        p.cols,
        [&](int i, Four v) {
          const float a = of(v.x), b = i + 1 < p.cols ? of(v.y) : 0.0f;
          const float c = i + 2 < p.cols ? of(v.z) : 0.0f, d = i + 3 < p.cols ? of(v.w) : 0.0f;
          mine = add(mine, add(add(a, b), add(c, d)));
        },
        x);
    mine = sum_of_lanes<32>(mine);
    group_barrier();  // who still reads the sums of before
    if (thread() % 32 == 0) sums[thread() / 32] = mine;
    group_barrier();
    return sum_of_lanes<16>(sums[thread() % 16]);
  }
};

}  // namespace spectr::cuda
