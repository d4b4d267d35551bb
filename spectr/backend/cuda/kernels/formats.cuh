#pragma once

// Decoders of weight formats for products: they convert a panel block's codes to signed bytes, and its scales
// to f32. A block is 16 rows × 64 columns: two halves of 32 columns, each with one scale of x. Used in
// product.cuh; the layout is described in spectr/backend/device/weights/weight_panels.h.

#include "spectr/backend/cuda/kernels/device.h"
#include "spectr/backend/cuda/kernels/look_up.cuh"
#include "spectr/backend/cuda/product_shape.h"

namespace spectr::cuda {

/// Scales and minima of the two rows of W that a lane has in registers, by half: one per half, or two of 16
/// columns each.
template <int scales_of_half>
struct BlockScales {
  float scale[2][2][scales_of_half];
  float min[2][2][scales_of_half];
};

/// Unpacks two F16 numbers, one for each half.
SPECTR_DEVICE void two_halves(u32 word, float (&numbers)[2][1]) {
  numbers[0][0] = low_half(word);
  numbers[1][0] = high_half(word);
}

/// Returns 2²³ + byte i of a word, as the float with bits 0x4b000000 | byte.
SPECTR_DEVICE float large_with_byte(u32 bytes, u32 i) {
  return float_of(pick_bytes(bytes, 0x4b000000u, 0x7440u | i));
}
SPECTR_DEVICE float byte_of_word(u32 bytes, u32 i) {
  return sub(large_with_byte(bytes, i), 8388608.0f);
}

/// The meaning of codes c of 2 to 6 bits. Codes with an offset of half their range are decoded to 2^shift (c
/// − offset): a signed byte with c in its high bits. The scale is divided by 2^shift, which is exact.
enum class Codes { plain, with_offset, in_table };

template <int bits, Codes meaning>
struct NarrowCodes {
  static constexpr int shift = meaning == Codes::with_offset ? 8 - bits : 0;

  /// Sets a[h] to operand A of half h; `at` is the lane's 16 bytes of a block's first 512 bytes of codes.
  static SPECTR_DEVICE void codes(u32 at, const u32 (&table)[4], u32 (&a)[2][4]) {
    constexpr bool has_nibbles = bits & 4, has_pairs = bits & 2, has_ones = bits & 1;
    constexpr u32 pairs_at = has_nibbles ? 512 : 0, ones_at = pairs_at + (has_pairs ? 256 : 0);
    u32 nibbles[4] = {}, pairs[2] = {}, ones[2] = {};
    if constexpr (has_nibbles) load_matrices(nibbles, at);
    const u32 lane = thread() & 31, block = at - lane * 16;
    SPECTR_UNROLL
    for (u32 k = 0; k < 2; ++k) {  // rows g and g + 8, columns 4t … 4t + 3 of every 16
      if constexpr (has_pairs) pairs[k] = load_shared(block + pairs_at + lane * 4 + 128 * k);
      if constexpr (has_ones)
        ones[k] = load_shared(block + ones_at + lane / 4 * 8 + lane % 4 / 2 * 4 + 64 * k) >> lane % 2 * 4;
    }
    SPECTR_UNROLL
    for (int v = 0; v < 4; ++v) {
      SPECTR_UNROLL
      for (int k = 0; k < 2; ++k) {
        u32 c = 0;
        if constexpr (has_nibbles) c = moved(nibbles[v / 2 * 2 + k], v % 2 * 4, shift, 0x0f0f0f0fu);
        if constexpr (has_pairs) c |= moved(pairs[k], 2 * v, shift + (bits & 4), 0x03030303u);
        if constexpr (has_ones) c |= moved(ones[k], v, shift + (bits & 6), 0x01010101u);
        if constexpr (meaning == Codes::with_offset) c ^= 0x80808080u;
        if constexpr (meaning == Codes::in_table) c = look_up<bits>(table, c);
        a[v / 2][v % 2 * 2 + k] = c;
      }
    }
  }

 private:
  /// Moves the bits of a mask from bit `from` of each byte to bit `to`.
  static SPECTR_DEVICE u32 moved(u32 word, int from, int to, u32 mask) {
    return (to > from ? word << (to - from) : word >> (from - to)) & mask << to;
  }
};

/// The decoder of 8-bit codes, with the interface of NarrowCodes.
struct SignedBytes {
  static constexpr int shift = 0;

  static SPECTR_DEVICE void codes(u32 at, const u32 (&)[4], u32 (&a)[2][4]) {
    load_matrices(a[0], at);
    load_matrices(a[1], at + 512);
  }
};

// Decoders of scales. `at` is the address of the scales of the lane's rows, `factors` that of their factors.
// If codes are scaled by 2^shift, scales are divided by it.

template <int bits, class OfCodes>
struct WithHalves : OfCodes {
  static constexpr FormatBytes bytes{.codes = 128 * bits, .scales = 64, .factors = 0};
  static constexpr int scales_of_half = 1;
  static constexpr bool has_min = false;

  static SPECTR_DEVICE void scales(u32 at, u32, BlockScales<1>& s) {
    SPECTR_UNROLL
    for (int r = 0; r < 2; ++r) {
      two_halves(load_shared(at + 32 * r), s.scale[r]);
      SPECTR_UNROLL
      for (int h = 0; h < 2; ++h) s.scale[r][h][0] = mul(s.scale[r][h][0], 1.0f / (1 << OfCodes::shift));
    }
  }
};

/// Scales must be below 2¹⁰⁴: beyond that, their products with the accumulators' initial value are infinite.
template <int bits, class OfCodes>
struct WithUpperHalves : OfCodes {
  static constexpr FormatBytes bytes{.codes = 128 * bits, .scales = 64, .factors = 0};
  static constexpr int scales_of_half = 1;
  static constexpr bool has_min = false;

  static SPECTR_DEVICE void scales(u32 at, u32, BlockScales<1>& s) {
    SPECTR_UNROLL
    for (int r = 0; r < 2; ++r) {
      const u32 both = load_shared(at + 32 * r);
      s.scale[r][0][0] = float_of(both << 16);
      s.scale[r][1][0] = float_of(both & 0xffff0000u);
    }
  }
};

template <int bits, class OfCodes>
struct WithHalvesAndMinima : OfCodes {
  static constexpr FormatBytes bytes{.codes = 128 * bits, .scales = 128, .factors = 0, .takes_sums = true};
  static constexpr int scales_of_half = 1;
  static constexpr bool has_min = true;

  static SPECTR_DEVICE void scales(u32 at, u32, BlockScales<1>& s) {
    SPECTR_UNROLL
    for (int r = 0; r < 2; ++r) {
      two_halves(load_shared(at + 32 * r), s.scale[r]);
      two_halves(load_shared(at + 64 + 32 * r), s.min[r]);
    }
  }
};

/// Scales are signed bytes, multiplied by a factor per row and 256 columns; one per 32 or per 16 columns.
template <int bits, int scales_of, class OfCodes>
struct WithSmall : OfCodes {
  static constexpr FormatBytes bytes{.codes = 128 * bits, .scales = 64, .factors = 64};
  static constexpr int scales_of_half = scales_of;
  static constexpr bool has_min = false;

  static SPECTR_DEVICE void scales(u32 at, u32 factors, BlockScales<scales_of>& s) {
    SPECTR_UNROLL
    for (int r = 0; r < 2; ++r) {
      const u32 small = load_shared(at + 32 * r) ^ 0x80808080u;  // byte + 128
      const float d = mul(float_of(load_shared(factors + 32 * r)), 1.0f / (1 << OfCodes::shift));
      SPECTR_UNROLL
      for (u32 i = 0; i < 2 * scales_of; ++i)
        s.scale[r][i / scales_of][i % scales_of] = mul(d, sub(large_with_byte(small, i), 8388736.0f));
    }
  }
};

/// Scales and minima are bytes, multiplied by two factors per row and 256 columns: s = d · byte, which is
/// exact. A row's word has the scales of both halves, then their minima.
template <int bits, class OfCodes>
struct WithSmallAndMinima : OfCodes {
  static constexpr FormatBytes bytes{.codes = 128 * bits, .scales = 64, .factors = 64, .takes_sums = true};
  static constexpr int scales_of_half = 1;
  static constexpr bool has_min = true;

  static SPECTR_DEVICE void scales(u32 at, u32 factors, BlockScales<1>& s) {
    SPECTR_UNROLL
    for (int r = 0; r < 2; ++r) {
      const u32 small = load_shared(at + 32 * r), both = load_shared(factors + 32 * r);
      const float d = low_half(both), m = high_half(both);
      SPECTR_UNROLL
      for (u32 h = 0; h < 2; ++h) {
        s.scale[r][h][0] = mul(d, byte_of_word(small, h));
        s.min[r][h][0] = mul(m, byte_of_word(small, 2 + h));
      }
    }
  }
};

/// Scales and minima of 16 columns each are nibbles. Sums of 16 columns of x are computed in the kernel.
template <int bits, class OfCodes>
struct WithNibbles : OfCodes {
  static constexpr FormatBytes bytes{.codes = 128 * bits, .scales = 64, .factors = 64};
  static constexpr int scales_of_half = 2;
  static constexpr bool has_min = true;

  static SPECTR_DEVICE void scales(u32 at, u32 factors, BlockScales<2>& s) {
    SPECTR_UNROLL
    for (int r = 0; r < 2; ++r) {
      const u32 small = load_shared(at + 32 * r), both = load_shared(factors + 32 * r);
      const float d = low_half(both), m = high_half(both);
      SPECTR_UNROLL
      for (u32 i = 0; i < 4; ++i) {
        s.scale[r][i / 2][i % 2] = mul(d, byte_of_word(small & 0x0f0f0f0fu, i));
        s.min[r][i / 2][i % 2] = mul(m, byte_of_word(small >> 4 & 0x0f0f0f0fu, i));
      }
    }
  }
};

// The formats. Those with the same panel layout share a decoder.
using Q8_0 = WithHalves<8, SignedBytes>;
using Q4_0 = WithHalves<4, NarrowCodes<4, Codes::with_offset>>;
using Q5_0 = WithHalves<5, NarrowCodes<5, Codes::with_offset>>;
using Q4_1 = WithHalvesAndMinima<4, NarrowCodes<4, Codes::plain>>;
using Q5_1 = WithHalvesAndMinima<5, NarrowCodes<5, Codes::plain>>;
using Q2_K = WithNibbles<2, NarrowCodes<2, Codes::plain>>;
using Q3_K = WithSmall<3, 2, NarrowCodes<3, Codes::in_table>>;  // and IQ2_XXS, IQ2_XS, IQ2_S, IQ1_S, IQ1_M
using Q4_K = WithSmallAndMinima<4, NarrowCodes<4, Codes::plain>>;
using Q5_K = WithSmallAndMinima<5, NarrowCodes<5, Codes::plain>>;
using Q6_K = WithSmall<6, 2, NarrowCodes<6, Codes::with_offset>>;
using IQ3_XXS = WithSmall<4, 1, NarrowCodes<4, Codes::in_table>>;  // and IQ3_S, IQ4_XS
using IQ4_NL = WithHalves<4, NarrowCodes<4, Codes::in_table>>;
using TQ1_0 = WithHalves<2, NarrowCodes<2, Codes::in_table>>;  // and TQ2_0, Q1_0, Q2_0
using MXFP4 = WithUpperHalves<4, NarrowCodes<4, Codes::in_table>>;

}  // namespace spectr::cuda
