// The product of a panel of quantised weights with a few quantised rows, written once for all formats and all
// instruction sets. To be included by the source file of one set, after it chose its compiler target.
//
// `Lanes` is the instruction set: vectors of `lanes` rows of the panel, in three views: Bytes (4 codes per
// row), Ints and Floats.
#pragma once

#include <algorithm>

#include "spectr/kernels/activations.h"
#include "spectr/kernels/fetch-inl.h"
#include "spectr/kernels/panels.h"
#include "spectr/kernels/scales-inl.h"

namespace spectr {

/// The codes of columns [4 · group, 4 · group + 4) of a block, put together from its planes.
template <class Lanes, TensorType type, int group>
HWY_INLINE typename Lanes::Bytes codes_of_group(const std::uint8_t* block) {
  constexpr CodeLayout layout = *code_layout(type);
  constexpr CodePlace low = code_place(0, 4 * group, layout.low_bits);
  if constexpr (layout.low_bits == 8) {
    return Lanes::load(block + low.byte);
  } else {
    constexpr int low_mask = (1 << layout.low_bits) - 1;
    const auto codes = Lanes::template field<low.shift, low_mask>(Lanes::load(block + low.byte));
    if constexpr (layout.high_bits == 0) {
      return codes;
    } else {
      constexpr CodePlace high = code_place(0, 4 * group, layout.high_bits);
      constexpr int high_mask = ((1 << layout.high_bits) - 1) << layout.low_bits;
      const auto bits = Lanes::load(block + 64 * layout.low_bits + high.byte);
      return Lanes::merge(codes, Lanes::template field<high.shift - layout.low_bits, high_mask>(bits));
    }
  }
}

/// sum + the products of 4 · groups codes of `bits` bits with the numbers at q. A set that multiplies to 16
/// bits first adds there as often as fits, as |q| ≤ 127: the sum is exact, whatever its order.
template <class Lanes, int bits, int groups>
HWY_INLINE typename Lanes::Ints dot_codes(typename Lanes::Ints sum, const typename Lanes::Bytes* w,
                                          const std::uint8_t* q) {
  if constexpr (requires { &Lanes::pairs_of_products; }) {
    constexpr int largest_pair = 2 * ((1 << bits) - 1) * 127;
    constexpr int together = std::min(groups, 32767 / largest_pair);
    for (int first = 0; first < groups; first += together) {
      auto pairs = Lanes::pairs_of_products(w[first], q + 4 * first);
      for (int g = first + 1; g < std::min(groups, first + together); ++g) {
        pairs = Lanes::add_pairs(pairs, Lanes::pairs_of_products(w[g], q + 4 * g));
      }
      sum = Lanes::add_sums(sum, pairs);
    }
  } else {
#pragma GCC unroll 8
    for (int g = 0; g < groups; ++g) sum = Lanes::dot(sum, w[g], q + 4 * g);
  }
  return sum;
}

/// Writes a vector, or its first `count` lanes where there are fewer.
template <class Lanes>
HWY_INLINE void store_first(typename Lanes::Floats v, float* out, std::size_t count) {
  if (count >= Lanes::lanes) return Lanes::store(out, v);
  float all[Lanes::lanes];
  Lanes::store(all, v);
  std::memcpy(out, all, count * sizeof(float));
}

/// y = Σ over blocks of x of a · Σ over its two blocks of weights of s · Σ code · q, less what minima take:
/// the codes of a block of weights are decoded once and meet every row of x. Per row the order of all
/// operations is fixed, whatever `rows` and the set are. The first lanes also ask for what is coming.
template <class Lanes, TensorType type, int rows>
HWY_INLINE void multiply_lanes(const std::uint8_t* codes, const std::uint8_t* headers, std::size_t lane,
                               std::size_t blocks, ComingPanels coming, const std::uint8_t* x,
                               typename Lanes::Floats (&sums)[rows]) {
  constexpr CodeLayout layout = *code_layout(type);
  constexpr int per_block = layout.scales_per_block();
  constexpr int groups = 8 / per_block;  // groups of 4 columns under one scale
  constexpr int block_bytes = 64 * layout.bits();
  constexpr ActivationBlock activation{rows, 2 * per_block};
  codes += 4 * lane;
  typename Lanes::Floats scales[layout.blocks() * per_block], mins[layout.blocks() * per_block];
  for (int r = 0; r < rows; ++r) sums[r] = Lanes::zero_floats();
  for (std::size_t pair = 0; pair < blocks; pair += 2, x += activation.bytes()) {
    if (lane == 0) fetch_codes<2 * block_bytes>(coming);
    typename Lanes::Floats parts[rows];  // y / a
    for (int r = 0; r < rows; ++r) parts[r] = Lanes::zero_floats();
#pragma GCC unroll 2
    for (std::size_t half = 0; half < 2; ++half) {
      const std::size_t b = (pair + half) % layout.blocks();     // in its unit
      if (layout.blocks() == 1 && pair + half == blocks) break;  // half a block of x is left
      if (b == 0) {
        decode_scales<Lanes, type>(headers, lane, scales, mins);
        if (lane == 0) fetch_early<panel_rows * layout.header_bytes()>(headers + coming.headers);
        headers += panel_rows * layout.header_bytes();
      }
      const typename Lanes::Bytes w[8] = {
          codes_of_group<Lanes, type, 0>(codes), codes_of_group<Lanes, type, 1>(codes),
          codes_of_group<Lanes, type, 2>(codes), codes_of_group<Lanes, type, 3>(codes),
          codes_of_group<Lanes, type, 4>(codes), codes_of_group<Lanes, type, 5>(codes),
          codes_of_group<Lanes, type, 6>(codes), codes_of_group<Lanes, type, 7>(codes)};
#pragma GCC unroll 16
      for (std::size_t r = 0; r < rows; ++r) {
        const std::uint8_t* q = x + 32 * (half * rows + r);
#pragma GCC unroll 2
        for (std::size_t i = 0; i < per_block; ++i) {
          const std::uint8_t* correction =
              x + activation.corrections_at() + 4 * ((half * per_block + i) * rows + r);
          auto sum = layout.has_min ? Lanes::zero_ints() : Lanes::broadcast_int(correction);
          if constexpr (type == TensorType::q8_0) {
#pragma GCC unroll 8
            for (int g = 0; g < groups; ++g) sum = Lanes::dot_signed(sum, w[g], q + 4 * g);
          } else {
            sum = dot_codes<Lanes, layout.bits(), groups>(sum, &w[i * groups], q + 4 * groups * i);
          }
          const std::size_t s = b * per_block + i;
          parts[r] = Lanes::add_product(parts[r], Lanes::to_float(sum), scales[s]);
          if constexpr (layout.has_min) {
            parts[r] = Lanes::subtract_product(parts[r], mins[s], Lanes::broadcast_float(correction));
          }
        }
      }
      codes += block_bytes;
    }
#pragma GCC unroll 16
    for (std::size_t r = 0; r < rows; ++r) {
      const auto a = Lanes::broadcast_float(x + activation.scales_at() + 4 * r);
      sums[r] = Lanes::add_product(sums[r], parts[r], a);
    }
  }
}

template <class Lanes, TensorType type, int rows>
void multiply_panels(const PanelRun& run, const std::uint8_t* x, float* y, std::size_t stride) {
  for (std::size_t p = 0; p < run.panels(); ++p, y += panel_rows) {
    const std::uint8_t* const codes = run.codes_of(p);
    const std::size_t count = run.rows_of(p);
    for (std::size_t lane = 0; lane < count; lane += Lanes::lanes) {
      typename Lanes::Floats sums[rows];
      multiply_lanes<Lanes, type, rows>(codes, codes + run.shape.headers_at(), lane, run.shape.blocks(),
                                        run.coming_after(p), x, sums);
      for (std::size_t r = 0; r < rows; ++r) store_first<Lanes>(sums[r], y + r * stride + lane, count - lane);
    }
  }
}

}  // namespace spectr
