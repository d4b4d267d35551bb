#pragma once

// The product of a panel's block of 64 columns with the same block of some rows of x, by tensor cores:
//
//   half h of the block:  t(h) = s · float(Σ c q)  [ − m · float(Σ q) ],  each product and sum rounded;
//                         with scales of 16 columns, plus the second one's term: + s' · float(…) [ − m' · … ]
//   added to a sum:       a(h) · t(h), half 0 first
//
// Accumulators begin at 0x4b400000. As a float that is 12582912 = 1.5 · 2²³, and the accumulator's bits are
// those of 12582912 + Σ. So fma(s, bits, −12582912 s) = round(s Σ): s has at most 19 bits, and its product
// with 12582912 is exact.

#include "spectr/backend/cuda/kernels/formats.cuh"

namespace spectr::cuda {

/// Tells at compile time whether a block is the first of its segment, which initializes the sums.
template <bool value>
struct IsFirst {};

/// Shared memory addresses of a block of W, and of the tiles of x, each of 512 bytes of codes and 64 bytes of
/// scales.
struct BlockPlace {
  u32 codes, scales, factors;
  u32 x, x_scales, x_sums;
};

/// A warp's product of 16 rows of W and `tiles` tiles of 8 rows of x. With g = lane / 4 and t = lane mod 4,
/// sum k of a tile belongs to row g + 8 (k / 2) of W and row 2 t + k mod 2 of x.
template <class Format, int tiles>
class BlockProduct {
  static constexpr int scales_of_half = Format::scales_of_half;
  static constexpr bool has_min = Format::has_min, takes_sums = Format::bytes.takes_sums;
  static constexpr float start = 12582912;

 public:
  template <bool is_first>
  static SPECTR_DEVICE void add_to(float (&acc)[tiles][4], const BlockPlace& at, const u32 (&table)[4],
                                   IsFirst<is_first>) {
    const int lane = thread() & 31, g = lane >> 2, t = lane & 3;
    u32 a[2][4];
    Format::codes(at.codes + lane * 16, table, a);
    BlockScales<scales_of_half> w;
    Format::scales(at.scales + g * 4, at.factors + g * 4, w);
    float offset[2][2][scales_of_half];
    SPECTR_UNROLL
    for (int r = 0; r < 2; ++r) {
      SPECTR_UNROLL
      for (int h = 0; h < 2; ++h) {
        SPECTR_UNROLL
        for (int s = 0; s < scales_of_half; ++s) offset[r][h][s] = mul(w.scale[r][h][s], -start);
      }
    }
    SPECTR_UNROLL
    for (int x = 0; x < tiles; ++x) {
      u32 q[4];
      float of[4], sums[4] = {};  // a and Σ q of rows 2t, 2t + 1: first half, second half
      load_shared(q, at.x + x * 512 + lane * 16);
      load_shared(of, at.x_scales + x * 64 + t * 16);
      if constexpr (takes_sums) load_shared(sums, at.x_sums + x * 64 + t * 16);
      float sums_of_16[4][2] = {};
      if constexpr (has_min && !takes_sums) {
        SPECTR_UNROLL
        for (int v = 0; v < 4; ++v) sum_of_codes(q[v], sums_of_16[v]);
      }
      int c[2][scales_of_half][4];
      SPECTR_UNROLL
      for (int h = 0; h < 2; ++h) {
        if constexpr (scales_of_half == 1) {
          multiply_bytes(c[h][0], a[h], q[2 * h], q[2 * h + 1], 0x4b400000);
        } else {
          multiply_bytes(c[h][0], a[h][0], a[h][1], q[2 * h], 0x4b400000);
          multiply_bytes(c[h][1], a[h][2], a[h][3], q[2 * h + 1], 0x4b400000);
        }
      }
      SPECTR_UNROLL
      for (int h = 0; h < 2; ++h) {
        SPECTR_UNROLL
        for (int k = 0; k < 4; ++k) {
          const int r = k >> 1, of_x = 2 * h + (k & 1);
          const auto scaled = [&](int s) {
            return fma(w.scale[r][h][s], float_of(static_cast<u32>(c[h][s][k])), offset[r][h][s]);
          };
          const auto less = [&](float part, int s) {
            if constexpr (!has_min) return part;
            return sub(part, mul(w.min[r][h][s], takes_sums ? sums[of_x] : sums_of_16[2 * h + s][k & 1]));
          };
          float part = less(scaled(0), 0);
          if constexpr (scales_of_half == 2) part = less(cuda::add(part, scaled(1)), 1);
          const float v = mul(of[of_x], part);
          acc[x][k] = is_first && h == 0 ? v : cuda::add(acc[x][k], v);
        }
      }
    }
  }

  // These apply to all sums of a warp.
  static SPECTR_DEVICE void set(float (&to)[tiles][4], const float (&from)[tiles][4]) {
    SPECTR_UNROLL
    for (int x = 0; x < tiles; ++x) {
      SPECTR_UNROLL
      for (int k = 0; k < 4; ++k) to[x][k] = from[x][k];
    }
  }
  static SPECTR_DEVICE void add(float (&to)[tiles][4], const float (&more)[tiles][4]) {
    SPECTR_UNROLL
    for (int x = 0; x < tiles; ++x) {
      SPECTR_UNROLL
      for (int k = 0; k < 4; ++k) to[x][k] = cuda::add(to[x][k], more[x][k]);
    }
  }

 private:
  /// Computes Σ q over 16 columns of x, for rows 2t and 2t + 1.
  static SPECTR_DEVICE void sum_of_codes(u32 q, float (&sums)[2]) {
    constexpr u32 ones = 0x01010101;
    int c[4];
    multiply_bytes(c, ones, ones, q, 0x4b400000);
    SPECTR_UNROLL
    for (int i = 0; i < 2; ++i) sums[i] = sub(float_of(static_cast<u32>(c[i])), start);
  }
};

}  // namespace spectr::cuda
