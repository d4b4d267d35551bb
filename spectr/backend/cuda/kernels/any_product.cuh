#pragma once

// y = W x for quantized weights of any shape: what product.cuh has no room for in shared memory, with the
// same bits. A warp has a row of W and one of x, and each of its lanes a segment.

#include "spectr/backend/cuda/kernels/elementwise.cuh"

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

  /// t(b, h) of product.cuh.
  static SPECTR_DEVICE float half(const AnyProduct& p, long block, int row, int h, const u32 (&q)[16],
                                  int sum_of_q) {
    int products[2] = {};  // of 16 columns each
    SPECTR_UNROLL
    for (int i = 0; i < 2; ++i) {
      SPECTR_UNROLL
      for (int k = 0; k < 4; ++k) {
        const u32 x = q[8 * h + 4 * i + k];
        products[i] = sum_of_products(codes(p, block, row, 2 * h + i, k), x, products[i]);
        products[i] -= p.offset * sum_of_bytes(x);
      }
    }
    const u32 scales = p.scales[block * 16 + row];
    const auto all = static_cast<float>(products[0] + products[1]);
    if (!p.has_small_scales) return mul(h == 0 ? low_half(scales) : high_half(scales), all);
    const u32 factors = p.factors[block / 4 * 16 + row];
    if (p.has_min) {
      const float scale = mul(low_half(factors), static_cast<float>(scales >> 8 * h & 255));
      const float min = mul(high_half(factors), static_cast<float>(scales >> (16 + 8 * h) & 255));
      return sub(mul(scale, all), mul(min, static_cast<float>(sum_of_q)));
    }
    float t[2];
    SPECTR_UNROLL
    for (int i = 0; i < 2; ++i) {
      const auto scale = static_cast<float>(static_cast<signed char>(scales >> (16 * h + 8 * i)));
      t[i] = mul(mul(low_half(factors), scale), static_cast<float>(products[i]));
    }
    return add(t[0], t[1]);
  }

  /// The codes of the columns 16 v + 4 k … + 3 of a block.
  static SPECTR_DEVICE u32 codes(const AnyProduct& p, long block, int row, int v, int k) {
    const u8* const at = p.codes + block * 128 * p.bits;
    if (p.bits == 8) return word(at, v * 16 + row, k);
    const u32 low = word(at, v / 2 * 16 + row, k) >> v % 2 * 4 & 0x0f0f0f0fu;
    if (p.bits == 5) {
      const u32 high = reinterpret_cast<const u32*>(at + 512 + row * 8)[k / 2] >> (k % 2 * 4 + v);
      return low | (high & 0x01010101u) << 4;
    }
    if (p.bits == 6) return low | (word(at + 512, row, k) >> 2 * v & 0x03030303u) << 4;
    return low;
  }
  /// Of the line of 16 bytes.
  static SPECTR_DEVICE u32 word(const u8* at, int line, int k) {
    return reinterpret_cast<const u32*>(at + line * 16)[k];
  }
};

}  // namespace spectr::cuda
