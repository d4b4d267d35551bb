#pragma once

// Reads blocks of quantized weights in panels (weight_panels.h) of any format: a thread has one row of W and
// one row of x.

#include "spectr/backend/cuda/kernels/device.h"
#include "spectr/backend/cuda/kernels/look_up.cuh"
#include "spectr/backend/cuda/kernels/parameters.h"

namespace spectr::cuda {

/// Loads the sixteen words of a row of x in a block, in column order, from four vectors of its tile.
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

/// Returns word k of a line of 16 bytes.
SPECTR_DEVICE u32 word_of_line(const u8* at, int line, int k) {
  return reinterpret_cast<const u32*>(at + line * 16)[k];
}

/// Returns the decoded codes, before the offset is subtracted, of columns 16 v + 4 k … + 3 of a panel block
/// in the panel's row `row`.
SPECTR_DEVICE u32 codes_of_block(const Panels& w, long block, int row, int v, int k) {
  const int bits = w.format.bits;
  const u8* at = w.codes + block * 128 * bits;
  if (bits == 8) return word_of_line(at, v * 16 + row, k);
  u32 codes = 0;
  int have = 0;  // bits
  if (bits & 4) {
    codes = word_of_line(at, v / 2 * 16 + row, k) >> v % 2 * 4 & 0x0f0f0f0fu;
    at += 512;
    have = 4;
  }
  if (bits & 2) {
    codes |= (word_of_line(at, row, k) >> 2 * v & 0x03030303u) << have;
    at += 256;
    have += 2;
  }
  if (bits & 1) {
    const u32 last = reinterpret_cast<const u32*>(at + row * 8)[k / 2] >> (k % 2 * 4 + v);
    codes |= (last & 0x01010101u) << have;
  }
  return w.format.has_table ? look_up<4>(w.format.table, codes) : codes;
}

/// Scales and minima of 16 columns each, for half a block.
struct HalfScales {
  float scale[2], min[2];
};
/// Returns the scales of half h of a panel block in the panel's row `row`. If 32 columns share a scale, both
/// entries are equal.
SPECTR_DEVICE HalfScales scales_of_block(const Panels& w, long block, int row, int h) {
  const PanelScales kind = w.format.scales;
  const u32* const words = w.scales + block * scale_words(kind) * 16 + row;
  const u32 word = words[0];
  const auto half = [h](u32 halves) { return h == 0 ? low_half(halves) : high_half(halves); };
  const auto of_32 = [](float scale, float min) { return HalfScales{{scale, scale}, {min, min}}; };
  if (kind == PanelScales::halves) return of_32(half(word), 0);
  if (kind == PanelScales::upper_halves) return of_32(float_of(h == 0 ? word << 16 : word & 0xffff0000u), 0);
  if (kind == PanelScales::halves_and_minima) return of_32(half(word), half(words[16]));

  const u32 factors = w.factors[block / 4 * 16 + row];
  const auto byte = [word](int i) { return word >> 8 * i & 255; };
  const auto small = [&](int i) {
    return mul(float_of(factors), static_cast<float>(static_cast<signed char>(byte(i))));
  };
  const auto scale = [&](u32 number) { return mul(low_half(factors), static_cast<float>(number)); };
  const auto min = [&](u32 number) { return mul(high_half(factors), static_cast<float>(number)); };
  if (kind == PanelScales::small) return of_32(small(h), 0);
  if (kind == PanelScales::small_and_minima) return of_32(scale(byte(h)), min(byte(2 + h)));
  if (kind == PanelScales::small_of_16) return {{small(2 * h), small(2 * h + 1)}, {}};
  const u32 first = byte(2 * h), second = byte(2 * h + 1);
  return {{scale(first & 15), scale(second & 15)}, {min(first >> 4), min(second >> 4)}};
}

/// Returns t(b, h) of product.cuh: half h of a panel block, in the panel's row `row`, times q.
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
  const HalfScales of = scales_of_block(w, block, row, h);
  const bool has_min = has_minima(w.format.scales);
  const auto less = [&](float t, int i, int sum) {
    return has_min ? sub(t, mul(of.min[i], static_cast<float>(sum))) : t;
  };
  if (!is_of_16(w.format.scales))
    return less(mul(of.scale[0], static_cast<float>(products[0] + products[1])), 0, sums[0] + sums[1]);
  const float first = less(mul(of.scale[0], static_cast<float>(products[0])), 0, sums[0]);
  return less(add(first, mul(of.scale[1], static_cast<float>(products[1]))), 1, sums[1]);
}

}  // namespace spectr::cuda
