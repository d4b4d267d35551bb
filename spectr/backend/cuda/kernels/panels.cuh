#pragma once

// Blocks of quantized weights in panels (weight_panels.h), read by a thread for one row of W and one of x,
// whatever the format.

#include "spectr/backend/cuda/kernels/device.h"
#include "spectr/backend/cuda/kernels/parameters.h"

namespace spectr::cuda {

/// The sixteen words that a row of x has in a block, in the order of columns, of four vectors of its tile.
SPECTR_DEVICE void load_x(const Four* from, u32 (&q)[16]) {
  SPECTR_UNROLL
  for (int t = 0; t < 4; ++t) {
    const Four words = load(from + t);
    q[t] = bits_of(words.x);
    q[4 + t] = bits_of(words.y);
    q[8 + t] = bits_of(words.z);
    q[12 + t] = bits_of(words.w);
  }
}

/// Word k of a line of 16 bytes.
SPECTR_DEVICE u32 word_of_line(const u8* at, int line, int k) {
  return reinterpret_cast<const u32*>(at + line * 16)[k];
}

/// The codes of the columns 16 v + 4 k … + 3 of a block of the panels, the panel's row `row`.
SPECTR_DEVICE u32 codes_of_block(const Panels& w, long block, int row, int v, int k) {
  const int bits = w.format.bits;
  const u8* const at = w.codes + block * 128 * bits;
  if (bits == 8) return word_of_line(at, v * 16 + row, k);
  const u32 low = word_of_line(at, v / 2 * 16 + row, k) >> v % 2 * 4 & 0x0f0f0f0fu;
  if (bits == 5) {
    const u32 high = reinterpret_cast<const u32*>(at + 512 + row * 8)[k / 2] >> (k % 2 * 4 + v);
    return low | (high & 0x01010101u) << 4;
  }
  if (bits == 6) return low | (word_of_line(at + 512, row, k) >> 2 * v & 0x03030303u) << 4;
  return low;
}

/// t(b, h) of product.cuh: half h of a block of the panels, the panel's row `row`, times q.
SPECTR_DEVICE float half_of_block(const Panels& w, long block, int row, int h, const u32 (&q)[16]) {
  int products[2] = {}, sums[2] = {};  // of 16 columns each
  SPECTR_UNROLL
  for (int i = 0; i < 2; ++i) {
    SPECTR_UNROLL
    for (int k = 0; k < 4; ++k) {
      const u32 x = q[8 * h + 4 * i + k];
      products[i] = sum_of_products(codes_of_block(w, block, row, 2 * h + i, k), x, products[i]);
      sums[i] += sum_of_bytes(x);
    }
    products[i] -= w.format.offset * sums[i];
  }
  const u32 scales = w.scales[block * 16 + row];
  const auto all = static_cast<float>(products[0] + products[1]);
  if (w.format.scales == PanelScales::halves) return mul(h == 0 ? low_half(scales) : high_half(scales), all);
  const u32 factors = w.factors[block / 4 * 16 + row];
  if (w.format.scales == PanelScales::small_and_minima) {
    const float scale = mul(low_half(factors), static_cast<float>(scales >> 8 * h & 255));
    const float min = mul(high_half(factors), static_cast<float>(scales >> (16 + 8 * h) & 255));
    return sub(mul(scale, all), mul(min, static_cast<float>(sums[0] + sums[1])));
  }
  float t[2];
  SPECTR_UNROLL
  for (int i = 0; i < 2; ++i) {
    const auto scale = static_cast<float>(static_cast<signed char>(scales >> (16 * h + 8 * i)));
    t[i] = mul(mul(low_half(factors), scale), static_cast<float>(products[i]));
  }
  return add(t[0], t[1]);
}

}  // namespace spectr::cuda
