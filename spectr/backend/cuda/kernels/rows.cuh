#pragma once

// The kernels between products: they add the parts of a product, do what the rows need by themselves, and
// write the x of the next one.

#include "spectr/backend/cuda/kernels/quantize.cuh"

namespace spectr::cuda {

struct Prepare {
  const float* y;       ///< [part][n][width], the branch
  float* stream;        ///< [n][width]
  const float* weight;  ///< [width], of the norm
  QuantizedRows out;
  int n, width;                 ///< a multiple of 32
  float epsilon, part_of_mean;  ///< 1 / width
};

/// stream += branch; x = stream / √(mean stream² + ε) · weight, quantized. A group of 512 threads per row,
/// whatever the rows: thread i has the columns 4 i … 4 i + 3 of every 2048.
template <int quads>  // of columns that a thread has: for rows of at most 2048 · quads columns
struct PrepareKernel {
  static constexpr int threads = 512;

  template <int parts>
  static SPECTR_DEVICE void run(const Prepare& p) {
    SPECTR_SHARED float sums[threads / 32];
    const int r = group_x();
    dependents();
    Four weight[quads];  // known before the predecessors have ended
    SPECTR_UNROLL
    for (int j = 0; j < quads; ++j) {
      if (column(j) < p.width) weight[j] = *reinterpret_cast<const Four*>(p.weight + column(j));
    }
    predecessors();
    Four v[quads];
    float squares = 0;
    SPECTR_UNROLL
    for (int j = 0; j < quads; ++j) {
      const int i = column(j);
      v[j] = {};
      if (i >= p.width) continue;
      Four* const x = reinterpret_cast<Four*>(p.stream + static_cast<long>(r) * p.width + i);
      const Four more = four_of<parts>(p.y, p.n, p.width, r, i), old = load(x);
      v[j] = sum_of_fours(old, more);
      *x = v[j];
      squares = add(squares, add(add(mul(v[j].x, v[j].x), mul(v[j].y, v[j].y)),
                                 add(mul(v[j].z, v[j].z), mul(v[j].w, v[j].w))));
    }
    squares = sum_of_lanes<32>(squares);
    if (thread() % 32 == 0) sums[thread() / 32] = squares;
    group_barrier();
    squares = sum_of_lanes<16>(sums[thread() % 16]);
    const float factor = divide(1.0f, root(add(mul(squares, p.part_of_mean), p.epsilon)));
    SPECTR_UNROLL
    for (int j = 0; j < quads; ++j) {
      const int i = column(j);
      Four x{};
      if (i < p.width) {
        const Four& w = weight[j];
        x = {mul(mul(v[j].x, factor), w.x), mul(mul(v[j].y, factor), w.y), mul(mul(v[j].z, factor), w.z),
             mul(mul(v[j].w, factor), w.w)};
      }
      quantize_four(x, r, i, i < whole_blocks(p.width), p.out);
    }
  }

 private:
  static SPECTR_DEVICE int column(int j) { return 4 * (thread() + threads * j); }
};

struct ActivateParts {
  const float* y;  ///< [part][n][gate's `width` columns, up's]
  QuantizedRows out;
  int n, width;
};

/// x = silu(gate) · up, quantized. Groups of 128 threads have 512 columns of a row: grid (n, width / 512).
struct ActivatePartsKernel {
  static constexpr int threads = 128;

  template <int parts>
  static SPECTR_DEVICE void run(const ActivateParts& p) {
    const int r = group_x(), i = 4 * (group_y() * threads + thread());
    dependents();
    predecessors();
    Four v{};
    if (i < p.width) {
      const Four gate = four_of<parts>(p.y, p.n, 2L * p.width, r, i);
      const Four up = four_of<parts>(p.y, p.n, 2L * p.width, r, p.width + i);
      v = {mul(silu(gate.x), up.x), mul(silu(gate.y), up.y), mul(silu(gate.z), up.z),
           mul(silu(gate.w), up.w)};
    }
    quantize_four(v, r, i, i < whole_blocks(p.width), p.out);
  }
};

}  // namespace spectr::cuda
