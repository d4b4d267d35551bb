#pragma once

// What the formats of weights are for a product: how a panel's block of codes becomes signed bytes, and its
// scales floats. A block is 16 rows and 64 columns, two halves of 32 columns, which is what shares a scale of
// x. See product.h for the use, and spectr/backend/device/weight_panels.h for what lies where.

#include "spectr/backend/cuda/kernels/device.h"
#include "spectr/backend/cuda/product_shape.h"

namespace spectr::cuda {

/// Of the two rows of W that a lane has in its registers: [row][half].
struct BlockScales {
  float scale[2][2];
  float min[2][2];
};

/// Two halves, for the two halves of columns, at `at` + 4 · row.
SPECTR_DEVICE void two_halves(u32 at, float (&scale)[2][2]) {
  SPECTR_UNROLL
  for (int r = 0; r < 2; ++r) {
    const u32 both = load_shared(at + 32 * r);
    scale[r][0] = low_half(both);
    scale[r][1] = high_half(both);
  }
}

/// a[h]: A of half h, whose codes of four bits are at `at`. Of a word Format::low() and high() make the
/// signed bytes of its low and of its high nibbles.
template <class Format>
SPECTR_DEVICE void codes_of_nibbles(u32 at, u32 (&a)[2][4]) {
  u32 packed[4];
  load_matrices(packed, at);
  SPECTR_UNROLL
  for (int h = 0; h < 2; ++h) {
    SPECTR_UNROLL
    for (int k = 0; k < 2; ++k) {
      a[h][k] = Format::low(packed[2 * h + k]);
      a[h][2 + k] = Format::high(packed[2 * h + k]);
    }
  }
}

struct Q8_0 {
  static constexpr FormatBytes bytes{.codes = 1024, .factors = 0, .has_min = false};

  /// a[h]: A of half h, from the codes at `at`, the lane's 16 bytes.
  static SPECTR_DEVICE void codes(u32 at, u32 (&a)[2][4]) {
    load_matrices(a[0], at);
    load_matrices(a[1], at + 512);
  }
  /// Of the lane's rows: their scales are at `at`, their factors at `factors`.
  static SPECTR_DEVICE void scales(u32 at, u32, BlockScales& s) { two_halves(at, s.scale); }
};

/// A code of four bits, c − 8, is taken as 16 (c − 8), a signed byte with c in its high bits, and a
/// sixteenth of its scale, which is exact.
struct Q4_0 {
  static constexpr FormatBytes bytes{.codes = 512, .factors = 0, .has_min = false};

  static SPECTR_DEVICE u32 high(u32 packed) { return (packed & 0xf0f0f0f0u) ^ 0x80808080u; }
  static SPECTR_DEVICE u32 low(u32 packed) { return high(packed << 4); }
  static SPECTR_DEVICE void codes(u32 at, u32 (&a)[2][4]) { codes_of_nibbles<Q4_0>(at, a); }
  static SPECTR_DEVICE void scales(u32 at, u32, BlockScales& s) {
    two_halves(at, s.scale);
    SPECTR_UNROLL
    for (int r = 0; r < 2; ++r) {
      SPECTR_UNROLL
      for (int h = 0; h < 2; ++h) s.scale[r][h] = mul(s.scale[r][h], 0.0625f);
    }
  }
};

/// Scales and minima are bytes, times the two factors of the row's 256 columns: s = d · byte, which is exact.
struct Q4_K {
  static constexpr FormatBytes bytes{.codes = 512, .factors = 64, .has_min = true};

  static SPECTR_DEVICE u32 low(u32 packed) { return packed & 0x0f0f0f0fu; }
  static SPECTR_DEVICE u32 high(u32 packed) { return low(packed >> 4); }
  static SPECTR_DEVICE void codes(u32 at, u32 (&a)[2][4]) { codes_of_nibbles<Q4_K>(at, a); }
  /// A row's word: the scales of both halves, their minima.
  static SPECTR_DEVICE void scales(u32 at, u32 factors, BlockScales& s) {
    SPECTR_UNROLL
    for (int r = 0; r < 2; ++r) {
      const u32 small = load_shared(at + 32 * r), both = load_shared(factors + 32 * r);
      const float d = low_half(both), m = high_half(both);
      SPECTR_UNROLL
      for (u32 h = 0; h < 2; ++h) {
        s.scale[r][h] = times_byte(d, small, h);
        s.min[r][h] = times_byte(m, small, 2 + h);
      }
    }
  }

 private:
  /// 2²³ + b is the float 0x4b000000 | b.
  static SPECTR_DEVICE float times_byte(float d, u32 small, u32 i) {
    return mul(d, sub(float_of(pick_bytes(small, 0x4b000000u, 0x7440u | i)), 8388608.0f));
  }
};

}  // namespace spectr::cuda
