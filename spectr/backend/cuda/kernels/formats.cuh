#pragma once

// What the formats of weights are for a product: how a panel's block of codes becomes signed bytes, and its
// scales floats. A block is 16 rows and 64 columns, two halves of 32 columns, which is what shares a scale of
// x. See product.cuh for the use, and spectr/backend/device/weight_panels.h for what lies where.

#include "spectr/backend/cuda/kernels/device.h"
#include "spectr/backend/cuda/product_shape.h"

namespace spectr::cuda {

/// Of the two rows of W that a lane has in its registers: the scales of each half, one or, for 16 columns
/// each, two of them; and its minimum.
template <int scales_of_half>
struct BlockScales {
  float scale[2][2][scales_of_half];
  float min[2][2];
};

/// Two F16 numbers, for the two halves of columns, at `at` + 4 · row; divided by 2^shift, which is exact.
template <int shift>
SPECTR_DEVICE void two_halves(u32 at, BlockScales<1>& s) {
  SPECTR_UNROLL
  for (int r = 0; r < 2; ++r) {
    const u32 both = load_shared(at + 32 * r);
    s.scale[r][0][0] = low_half(both);
    s.scale[r][1][0] = high_half(both);
    if constexpr (shift > 0) {
      SPECTR_UNROLL
      for (int h = 0; h < 2; ++h) s.scale[r][h][0] = mul(s.scale[r][h][0], 1.0f / (1 << shift));
    }
  }
}

/// 2²³ + byte i of a word: the float 0x4b000000 | byte.
SPECTR_DEVICE float large_with_byte(u32 bytes, u32 i) {
  return float_of(pick_bytes(bytes, 0x4b000000u, 0x7440u | i));
}

/// Scales and minima are bytes, times the two factors of the row's 256 columns: s = d · byte, which is exact.
/// A row's word has the scales of both halves, then their minima.
SPECTR_DEVICE void small_scales_and_minima(u32 at, u32 factors, BlockScales<1>& s) {
  SPECTR_UNROLL
  for (int r = 0; r < 2; ++r) {
    const u32 small = load_shared(at + 32 * r), both = load_shared(factors + 32 * r);
    const float d = low_half(both), m = high_half(both);
    SPECTR_UNROLL
    for (u32 h = 0; h < 2; ++h) {
      s.scale[r][h][0] = mul(d, sub(large_with_byte(small, h), 8388608.0f));
      s.min[r][h] = mul(m, sub(large_with_byte(small, 2 + h), 8388608.0f));
    }
  }
}

/// Codes c of 4 to 6 bits. With an offset, half of their range, c − offset is taken as 2^shift (c − offset),
/// a signed byte with c in its high bits, and a part of its scale that is exact.
template <int bits, bool has_offset>
struct NarrowCodes {
  static constexpr int shift = has_offset ? 8 - bits : 0;

  /// a[h]: A of half h, from the codes at `at`, the lane's 16 bytes.
  static SPECTR_DEVICE void codes(u32 at, u32 (&a)[2][4]) {
    u32 low[4], high[2] = {};
    load_matrices(low, at);
    const u32 lane = thread() & 31, plane = at - lane * 16 + 512;
    SPECTR_UNROLL
    for (u32 k = 0; k < 2; ++k) {  // rows g and g + 8, the columns 4t … 4t + 3 of every 16
      if constexpr (bits == 5)
        high[k] = load_shared(plane + lane / 4 * 8 + lane % 4 / 2 * 4 + 64 * k) >> lane % 2 * 4;
      if constexpr (bits == 6) high[k] = load_shared(plane + lane * 4 + 128 * k);
    }
    SPECTR_UNROLL
    for (int v = 0; v < 4; ++v) {
      SPECTR_UNROLL
      for (int k = 0; k < 2; ++k) {
        u32 c = moved(low[v / 2 * 2 + k], v % 2 * 4, shift, 0x0f0f0f0fu);
        if constexpr (bits == 5) c |= moved(high[k], v, shift + 4, 0x01010101u);
        if constexpr (bits == 6) c |= moved(high[k], 2 * v, shift + 4, 0x03030303u);
        a[v / 2][v % 2 * 2 + k] = has_offset ? c ^ 0x80808080u : c;
      }
    }
  }

 private:
  /// The bits of a mask from bit `from` of each byte on, from bit `to` on.
  static SPECTR_DEVICE u32 moved(u32 word, int from, int to, u32 mask) {
    return (to > from ? word << (to - from) : word >> (from - to)) & mask << to;
  }
};

struct Q8_0 {
  static constexpr FormatBytes bytes{.codes = 1024, .factors = 0, .has_min = false};
  static constexpr int scales_of_half = 1;

  /// As NarrowCodes has them.
  static SPECTR_DEVICE void codes(u32 at, u32 (&a)[2][4]) {
    load_matrices(a[0], at);
    load_matrices(a[1], at + 512);
  }
  /// Of the lane's rows: their scales are at `at`, their factors at `factors`.
  static SPECTR_DEVICE void scales(u32 at, u32, BlockScales<1>& s) { two_halves<0>(at, s); }
};

struct Q4_0 : NarrowCodes<4, true> {
  static constexpr FormatBytes bytes{.codes = 512, .factors = 0, .has_min = false};
  static constexpr int scales_of_half = 1;

  static SPECTR_DEVICE void scales(u32 at, u32, BlockScales<1>& s) { two_halves<shift>(at, s); }
};

struct Q5_0 : NarrowCodes<5, true> {
  static constexpr FormatBytes bytes{.codes = 640, .factors = 0, .has_min = false};
  static constexpr int scales_of_half = 1;

  static SPECTR_DEVICE void scales(u32 at, u32, BlockScales<1>& s) { two_halves<shift>(at, s); }
};

struct Q4_K : NarrowCodes<4, false> {
  static constexpr FormatBytes bytes{.codes = 512, .factors = 64, .has_min = true};
  static constexpr int scales_of_half = 1;

  static SPECTR_DEVICE void scales(u32 at, u32 factors, BlockScales<1>& s) {
    small_scales_and_minima(at, factors, s);
  }
};

struct Q5_K : NarrowCodes<5, false> {
  static constexpr FormatBytes bytes{.codes = 640, .factors = 64, .has_min = true};
  static constexpr int scales_of_half = 1;

  static SPECTR_DEVICE void scales(u32 at, u32 factors, BlockScales<1>& s) {
    small_scales_and_minima(at, factors, s);
  }
};

/// Scales are signed bytes of 16 columns each, times the factor of the row's 256 columns.
struct Q6_K : NarrowCodes<6, true> {
  static constexpr FormatBytes bytes{.codes = 768, .factors = 64, .has_min = false};
  static constexpr int scales_of_half = 2;

  static SPECTR_DEVICE void scales(u32 at, u32 factors, BlockScales<2>& s) {
    SPECTR_UNROLL
    for (int r = 0; r < 2; ++r) {
      const u32 small = load_shared(at + 32 * r) ^ 0x80808080u;  // byte + 128
      const float d = mul(low_half(load_shared(factors + 32 * r)), 1.0f / (1 << shift));
      SPECTR_UNROLL
      for (u32 i = 0; i < 4; ++i)
        s.scale[r][i / 2][i % 2] = mul(d, sub(large_with_byte(small, i), 8388736.0f));
    }
  }
};

}  // namespace spectr::cuda
