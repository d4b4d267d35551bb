#pragma once

// Norms of rows, or of groups of their columns.

#include "spectr/backend/cuda/kernels/elementwise.cuh"

namespace spectr::cuda {

/// Normalizes groups of at most 2048 · quads columns, with 512 threads each. Grid: (rows, groups). Thread i
/// has columns 4 i … 4 i + 3 of every 2048, in registers.
template <int quads>
struct NormKernel {
  static constexpr int threads = 512;

  static SPECTR_DEVICE void run(const Norm& p) {
    SPECTR_SHARED float sums[threads / 32];
    constexpr bool early = quads <= 4;  // load weights before the predecessors have ended
    const long first = static_cast<long>(group_y()) * p.cols;
    Four weight[early ? quads : 1];
    dependents();
    if constexpr (early) {
      SPECTR_UNROLL
      for (int j = 0; j < quads; ++j) weight[j] = weights(p.weight, column(j), p.cols, 1.0f);
    }
    predecessors();
    const int row = p.picked != nullptr ? p.picked[group_x()] : group_x();
    Four v[quads];
    SPECTR_UNROLL
    for (int j = 0; j < quads; ++j) {
      const int i = column(j), left = p.cols - i;
      v[j] = four_of(p.in, row, first + i, left);
      if (p.added.at == nullptr) continue;
      v[j] = sum_of_fours(v[j], four_of(p.added, group_x(), first + i, left));
      store_four(row_of(p.in, row) + first + i, left, v[j]);
    }
    float mean = 0;
    if (!p.is_rms) mean = mul(sum(p.cols, v, sums, [](float x) { return x; }), p.part_of_mean);
    const auto centred = [&](float x) { return p.is_rms ? x : sub(x, mean); };
    const auto square = [&](float x) { return mul(centred(x), centred(x)); };
    const float variance = mul(sum(p.cols, v, sums, square), p.part_of_mean);
    const float factor = divide(1.0f, root(add(variance, p.epsilon)));
    SPECTR_UNROLL
    for (int j = 0; j < quads; ++j) {
      const int i = column(j), left = p.cols - i;
      const Four w = early ? weight[early ? j : 0] : weights(p.weight, i, p.cols, 1.0f);
      Four y = {mul(mul(centred(v[j].x), factor), w.x), mul(mul(centred(v[j].y), factor), w.y),
                mul(mul(centred(v[j].z), factor), w.z), mul(mul(centred(v[j].w), factor), w.w)};
      if (p.bias != nullptr) y = sum_of_fours(y, weights(p.bias, i, p.cols, 0.0f));
      y = {left > 0 ? y.x : 0.0f, left > 1 ? y.y : 0.0f, left > 2 ? y.z : 0.0f, left > 3 ? y.w : 0.0f};
      store_four(row_of(p.out, group_x()) + first + i, left, y);
      if (p.quantized.codes != nullptr) quantize_four(y, group_x(), i, i < whole_blocks(p.cols), p.quantized);
    }
  }

 private:
  static SPECTR_DEVICE int column(int j) { return 4 * (thread() + threads * j); }

  /// Loads the weights of four columns; `otherwise` if there are no weights.
  static SPECTR_DEVICE Four weights(const float* w, int i, int cols, float otherwise) {
    if (w == nullptr) return {otherwise, otherwise, otherwise, otherwise};
    const Matrix row{const_cast<float*>(w), 0};
    return four_of(row, 0, i, cols - i);
  }

  /// Returns, in every thread, Σ of(x): first over a thread's columns, then pairwise over threads. Missing
  /// columns contribute 0.
  template <class Of>
  static SPECTR_DEVICE float sum(int cols, const Four (&v)[quads], float* sums, Of of) {
    float mine = 0;
    SPECTR_UNROLL
    for (int j = 0; j < quads; ++j) {
      const int left = cols - column(j);
      const float a = left > 0 ? of(v[j].x) : 0.0f, b = left > 1 ? of(v[j].y) : 0.0f;
      const float c = left > 2 ? of(v[j].z) : 0.0f, d = left > 3 ? of(v[j].w) : 0.0f;
      mine = add(mine, add(add(a, b), add(c, d)));
    }
    mine = sum_of_lanes<32>(mine);
    group_barrier();  // the previous sums may still be read
    if (thread() % 32 == 0) sums[thread() / 32] = mine;
    group_barrier();
    return sum_of_lanes<16>(sums[thread() % 16]);
  }
};

/// Normalizes groups of at most 128 columns in place, with a warp each. Grid: (rows, groups / 4).
struct HeadNormKernel {
  static constexpr int threads = 128;

  static SPECTR_DEVICE void run(const HeadNorm& p) {
    const int head = 4 * group_y() + thread() / 32, i = 4 * (thread() % 32), left = p.cols - i;
    dependents();
    predecessors();
    if (head >= p.groups) return;  // exits as a whole warp
    const long first = static_cast<long>(head) * p.cols + i;
    const Four v = four_of(p.x, group_x(), first, left);
    const float squares = add(add(mul(v.x, v.x), mul(v.y, v.y)), add(mul(v.z, v.z), mul(v.w, v.w)));
    const float variance = mul(sum_of_lanes<32>(squares), p.part_of_mean);
    const float factor = divide(1.0f, root(add(variance, p.epsilon)));
    Four w = {1, 1, 1, 1};
    if (p.weight != nullptr) w = four_of({const_cast<float*>(p.weight), 0}, 0, i, left);
    store_four(row_of(p.x, group_x()) + first, left,
               {mul(mul(v.x, factor), w.x), mul(mul(v.y, factor), w.y), mul(mul(v.z, factor), w.z),
                mul(mul(v.w, factor), w.w)});
  }
};

}  // namespace spectr::cuda
