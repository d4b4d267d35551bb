#pragma once

// Quantization of rows of x for products: 32 columns share a = max |x| / 127, and q[j] is the integer nearest
// to x[j] / a. Bitwise equal to quantize_row of the CPU backend.

#include "spectr/backend/cuda/kernels/arithmetic.cuh"
#include "spectr/backend/cuda/kernels/parameters.h"

namespace spectr::cuda {

/// Returns x / 127, correctly rounded: an fma yields the exact error of the quotient (Markstein).
SPECTR_DEVICE float divided_by_127(float x) {
  constexpr float part = 1.0f / 127.0f;
  const float quotient = mul(x, part), mended = fma(fma(-127.0f, quotient, x), part, quotient);
  return x < INFINITY ? mended : x;
}

/// Returns `columns` rounded up to whole blocks.
SPECTR_DEVICE int whole_blocks(int columns) {
  return (columns + 63) / 64 * 64;
}

/// Quantizes four columns of row r, from `column` on. Must be called by all lanes of a warp, which have 128
/// consecutive columns, starting at a multiple of 128; lanes past the row's blocks do not store.
SPECTR_DEVICE void quantize_four(Four v, int r, int column, bool stores, const QuantizedRows& to) {
  const auto size = [](float x) { return bits_of(x) & 0x7fffffffu; };
  const auto most = [](u32 a, u32 b) { return a > b ? a : b; };
  // Compared as integers, the bits of |x| are ordered like the numbers; NaN is largest.
  u32 top = most(most(size(v.x), size(v.y)), most(size(v.z), size(v.w)));
  SPECTR_UNROLL
  for (int h = 1; h < 8; h *= 2) top = most(top, shuffle_xor(top, h));
  const float max = float_of(top);
  const bool nothing = max < 1e-30f;  // below that, the reciprocal could overflow
  const float reciprocal = nothing ? 0.0f : divide(127.0f, max), a = nothing ? 0.0f : divided_by_127(max);
  // Adding 1.5 · 2²³ rounds to an integer, which is then in the low bits of the float.
  const auto rounded = [&](float x) { return bits_of(add(mul(x, reciprocal), 12582912.0f)); };
  const u32 low = pick_bytes(rounded(v.x), rounded(v.y), 0x0040),
            high = pick_bytes(rounded(v.z), rounded(v.w), 0x0040);
  const u32 word = pick_bytes(low, high, 0x5410);
  int sum = sum_of_bytes(word);
  SPECTR_UNROLL
  for (int h = 1; h < 8; h *= 2) sum += shuffle_xor(sum, h);
  if (!stores) return;

  const int l = column / 4 % 16, g = r % 8, half = column / 32 % 2;
  const long tile = static_cast<long>(column / 64) * to.tiles + r % 64 / 8, slab = r / 64 * to.slab;
  reinterpret_cast<u32*>(to.codes + slab)[tile * 128 + (4 * g + l % 4) * 4 + l / 4] = word;
  if (l % 8 == 0) {
    const long at = tile * 16 + g / 2 * 4 + half * 2 + g % 2;
    to.scales[slab / 4 + at] = a;
    to.sums[slab / 4 + at] = static_cast<float>(sum);
  }
}

}  // namespace spectr::cuda
