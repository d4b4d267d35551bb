#pragma once

// y = W x for quantized weights of any shape: what product.cuh has no room for in shared memory, with the
// same bits. A warp has a row of W and one of x, and each of its lanes a segment.

#include "spectr/backend/cuda/kernels/elementwise.cuh"

namespace spectr::cuda {

/// Grid (rows / 4, rows of x).
struct AnyProductKernel {
  static constexpr int threads = 128;

  static SPECTR_DEVICE void run(const AnyProduct& p) {
    dependents();
    predecessors();
    const int row = group_x() * 4 + thread() / 32, lane = thread() % 32, r = group_y();
    if (row >= p.rows) return;  // a whole warp
    float sum = 0;
    for (int b = lane; b < p.blocks; b += 32) {
      const long tile = static_cast<long>(b) * p.x.tiles + r % 64 / 8, slab = r / 64 * p.x.slab;
      u32 q[16];
      load_words(reinterpret_cast<const Four*>(p.x.codes + slab) + tile * 32 + r % 8 * 4, q);
      const long at = slab / 4 + tile * 16 + r % 8 / 2 * 4 + r % 2;
      const long block = static_cast<long>(row / 16) * p.blocks + b;
      SPECTR_UNROLL
      for (int h = 0; h < 2; ++h) {
        const int sum_of_q = static_cast<int>(load(p.x.sums + at + 2 * h));
        const float t = half(p, block, row % 16, h, q, sum_of_q);
        sum = add(sum, mul(load(p.x.scales + at + 2 * h), t));
      }
    }
    sum = sum_of_lanes<32>(sum);
    if (lane == 0) row_of(p.y, r)[row] = add(sum, 0.0f);
  }

 private:
  /// The sixteen words that a row of x has in a block, in the order of columns.
  static SPECTR_DEVICE void load_words(const Four* from, u32 (&q)[16]) {
    SPECTR_UNROLL
    for (int t = 0; t < 4; ++t) {
      const Four words = load(from + t);
      q[t] = bits_of(words.x);
      q[4 + t] = bits_of(words.y);
      q[8 + t] = bits_of(words.z);
      q[12 + t] = bits_of(words.w);
    }
  }

  static SPECTR_DEVICE float half(const AnyProduct& p, long block, int row, int h, const u32 (&q)[16],
                                  int sum_of_q) {
    int products = 0;
    SPECTR_UNROLL
    for (int k = 0; k < 4; ++k) {  // words of 16 bytes
      if (p.kind == 0) {
        SPECTR_UNROLL
        for (int v = 2 * h; v < 2 * h + 2; ++v) {
          const u32 codes = reinterpret_cast<const u32*>(p.codes + ((block * 4 + v) * 16 + row) * 16)[k];
          products = sum_of_products(codes, q[4 * v + k], products);
        }
      } else {
        const u32 codes = reinterpret_cast<const u32*>(p.codes + ((block * 2 + h) * 16 + row) * 16)[k];
        products = sum_of_products(codes & 0x0f0f0f0f, q[8 * h + k], products);
        products = sum_of_products(codes >> 4 & 0x0f0f0f0f, q[8 * h + 4 + k], products);
      }
    }
    const u32 scales = p.scales[block * 16 + row];
    if (p.kind == 2) {
      const u32 factors = p.factors[block / 4 * 16 + row], both = scales >> 8 * h;
      const float scale = mul(low_half(factors), static_cast<float>(both & 255));
      const float min = mul(high_half(factors), static_cast<float>(both >> 16 & 255));
      return sub(mul(scale, static_cast<float>(products)), mul(min, static_cast<float>(sum_of_q)));
    }
    if (p.kind == 1) products -= 8 * sum_of_q;
    return mul(h == 0 ? low_half(scales) : high_half(scales), static_cast<float>(products));
  }
};

}  // namespace spectr::cuda
