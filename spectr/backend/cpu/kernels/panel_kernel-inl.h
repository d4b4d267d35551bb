// The product of a panel of quantized weights with a few quantized rows, generic over formats and instruction
// sets. Must be included by the source file of an instruction set, after it has selected its compiler target.
//
// `Lanes` is the instruction set: vectors of `lanes` rows of the panel, in three views: Bytes (4 quants per
// row), Ints and Floats. `Format` is the format of the weights (a KeptFormat).
#pragma once

#include <algorithm>

#include "spectr/backend/cpu/kernels/activations.h"
#include "spectr/backend/cpu/kernels/panels.h"
#include "spectr/backend/cpu/kernels/prefetch-inl.h"
#include "spectr/gguf/quant/formats.h"

namespace spectr {

/// Returns the quants of columns [4 · group, 4 · group + 4) of a block, combined from its planes.
template <class Lanes, class Format, int group>
HWY_INLINE typename Lanes::Bytes quants_of_group(const std::uint8_t* block) {
  constexpr QuantLayout layout = Format::layout;
  constexpr QuantPlace low = quant_place(0, 4 * group, layout.low_bits);
  if constexpr (layout.low_bits == 8) {
    return Lanes::load(block + low.byte);
  } else {
    constexpr int low_mask = (1 << layout.low_bits) - 1;
    const auto quants = Lanes::template field<low.shift, low_mask>(Lanes::load(block + low.byte));
    if constexpr (layout.high_bits == 0) {
      return quants;
    } else {
      constexpr QuantPlace high = quant_place(0, 4 * group, layout.high_bits);
      constexpr int high_mask = ((1 << layout.high_bits) - 1) << layout.low_bits;
      const auto bits = Lanes::load(block + 64 * layout.low_bits + high.byte);
      return Lanes::merge(quants, Lanes::template field<high.shift - layout.low_bits, high_mask>(bits));
    }
  }
}

/// Returns the numbers that these quants represent.
template <class Lanes, class Format, int group>
HWY_INLINE typename Lanes::Bytes numbers_of_group(const std::uint8_t* block) {
  const auto quants = quants_of_group<Lanes, Format, group>(block);
  if constexpr (Format::layout.meaning == QuantLayout::Meaning::table_index) {
    return Lanes::look_up(quants, Format::values.data());
  } else {
    return quants;
  }
}

/// The table of a format plus an excess, which dot_signed() requires at some levels.
template <class Format, int excess>
alignas(16) inline constexpr std::array<std::int8_t, 16> raised_values = [] {
  std::array<std::int8_t, 16> values = Format::values;
  for (std::int8_t& value : values) value = static_cast<std::int8_t>(value + excess);
  return values;
}();

/// Returns the numbers in the form that dot_signed() takes. Requires: they are signed bytes.
template <class Lanes, class Format, int group>
HWY_INLINE auto signed_quants_of_group(const std::uint8_t* block) {
  if constexpr (Format::layout.meaning == QuantLayout::Meaning::table_index && Lanes::signed_excess > 0) {
    const auto quants = quants_of_group<Lanes, Format, group>(block);
    return Lanes::look_up(quants, raised_values<Format, Lanes::signed_excess>.data());
  } else {
    return Lanes::signed_quants(numbers_of_group<Lanes, Format, group>(block));
  }
}

/// True if products are first added in 16 bits. Such an instruction set has pairs_of_products, add_pairs and
/// add_sums instead of dot.
template <class Lanes>
constexpr bool adds_pairs = requires { &Lanes::pairs_of_products; };

/// The excess that makes all of a format's numbers nonnegative, and their largest value with it. fit() is
/// true if the sum of two products with |q| ≤ 127 then fits into 16 bits.
struct UnsignedNumbers {
  int largest, excess;
  constexpr int largest_pair() const { return 2 * largest * 127; }
  constexpr bool fit() const { return largest_pair() <= 32767; }
};

template <class Format>
constexpr UnsignedNumbers unsigned_numbers() {
  using enum QuantLayout::Meaning;
  constexpr QuantLayout layout = Format::layout;
  if constexpr (layout.meaning == table_index) {
    const auto [least, most] = std::ranges::minmax(Format::values);
    return {most - least, -least};
  } else if constexpr (layout.meaning == signed_byte) {
    return {255, 128};
  } else {
    return {(1 << layout.bits()) - 1, 0};
  }
}

/// True if an instruction set takes a format's numbers with an excess that makes them unsigned: if it adds
/// pairs of products, and these fit.
template <class Lanes, class Format>
constexpr bool takes_unsigned = adds_pairs<Lanes> && unsigned_numbers<Format>().fit();

/// Returns the layout of x that the kernels require. Products of signed bytes exceed the result by the excess
/// times the activation.
template <class Lanes, class Format>
constexpr ActivationBlock activation_block(int rows) {
  constexpr QuantLayout layout = Format::layout;
  constexpr bool is_signed = layout.has_signed_bytes();
  constexpr int excess = !is_signed                      ? layout.offset
                         : takes_unsigned<Lanes, Format> ? unsigned_numbers<Format>().excess
                                                         : Lanes::signed_excess;
  return {.rows = rows,
          .corrections = is_signed && excess == 0 ? 0 : 2 * layout.scales_per_block(),
          .factor = -excess};
}

/// Sets pairs[r] to the products of a group of quants with row r of x if `first`, otherwise adds
/// them.
template <class Lanes, class Format, int group, int rows>
HWY_INLINE void add_pairs(bool first, const std::uint8_t* quants, const std::uint8_t* q,
                          typename Lanes::Ints (&pairs)[rows]) {
  auto w = quants_of_group<Lanes, Format, group>(quants);
  if constexpr (Format::layout.meaning == QuantLayout::Meaning::table_index)
    w = Lanes::look_up(w, raised_values<Format, unsigned_numbers<Format>().excess>.data());
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
    const auto products = Lanes::pairs_of_products(w, q + 32 * r + 4 * group);
    pairs[r] = first ? products : Lanes::add_pairs(pairs[r], products);
  }
}

/// Adds to sums[r] the products of `groups` groups of quants, from the group `first` on, with row r of x at
/// q. A group is multiplied by all rows of x before the next is read: many independent sums are in flight,
/// and few registers hold quants. Calls meanwhile(g) with group g.
template <class Lanes, class Format, int first, int groups, int rows, class Meanwhile>
HWY_INLINE void add_groups(const std::uint8_t* quants, const std::uint8_t* q, const Meanwhile& meanwhile,
                           typename Lanes::Ints (&sums)[rows]) {
  constexpr bool is_signed = Format::layout.has_signed_bytes();
  if constexpr (groups == 0) {
    return;
  } else if constexpr (takes_unsigned<Lanes, Format>) {
    // Add in 16 bits as often as fits; the sum is exact in any order.
    constexpr int together = std::min(groups, 32767 / unsigned_numbers<Format>().largest_pair());
    typename Lanes::Ints pairs[rows];
    [&]<int... g>(std::integer_sequence<int, g...>) {
      ((meanwhile(first + g), add_pairs<Lanes, Format, first + g>(g == 0, quants, q, pairs)), ...);
    }(std::make_integer_sequence<int, together>());
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) sums[r] = Lanes::add_sums(sums[r], pairs[r]);
    add_groups<Lanes, Format, first + together, groups - together>(quants, q, meanwhile, sums);
  } else {
    meanwhile(first);
    if constexpr (is_signed) {
      const auto w = signed_quants_of_group<Lanes, Format, first>(quants);
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) sums[r] = Lanes::dot_signed(sums[r], w, q + 32 * r + 4 * first);
    } else {
      const auto w = quants_of_group<Lanes, Format, first>(quants);
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) sums[r] = Lanes::dot(sums[r], w, q + 32 * r + 4 * first);
    }
    add_groups<Lanes, Format, first + 1, groups - 1>(quants, q, meanwhile, sums);
  }
}

/// Converts the complete integer sums of one block of weights to their contribution to y.
template <class Lanes, class Format, int rows>
struct BlockOfWeights {
  using Floats = typename Lanes::Floats;
  static constexpr QuantLayout layout = Format::layout;
  static constexpr bool corrected = activation_block<Lanes, Format>(rows).corrections != 0;

  const Floats* scales;
  const Floats* mins;
  const std::uint8_t* corrections;  ///< of its first scale
  const std::uint8_t* activations;  ///< a of every row
  Floats (&y)[rows];

  HWY_INLINE const std::uint8_t* correction(std::size_t r, std::size_t i) const {
    return corrections + 4 * (i * rows + r);
  }
  /// Returns the start value of the sum of row r under scale i.
  HWY_INLINE typename Lanes::Ints start(std::size_t r, std::size_t i) const {
    return corrected && !layout.has_min ? Lanes::broadcast_int(correction(r, i))
                                        : Lanes::as_ints(Lanes::float_of(sum_start));
  }
  /// Returns `part`, the contribution to y / a of row r so far, plus that of the columns under scale i. A sum
  /// is scaled and added with a single rounding: what its start value contributes is exact.
  HWY_INLINE Floats with_sum(Floats part, std::size_t r, std::size_t i, typename Lanes::Ints sum) const {
    const Floats s = Lanes::as_floats(sum);
    if (i == 0) {
      part = Lanes::add_product(part, s, scales[i]);
    } else {
      part = Lanes::add_product(part, Lanes::subtract(s, Lanes::float_of(sum_start)), scales[i]);
    }
    if constexpr (layout.has_min) {
      part = Lanes::subtract_product(part, mins[i], Lanes::broadcast_float(correction(r, i)));
    }
    return part;
  }
  HWY_INLINE void add(std::size_t r, Floats part) const {
    y[r] = Lanes::add_product(y[r], part, Lanes::broadcast_float(activations + 4 * r));
  }
};

/// Adds the contributions of the columns under scale i and all later scales of the block, for the rows of x
/// from `from` on, at q. parts: the contributions to y / a so far.
template <class Lanes, class Format, int i, int from, int rows, int all_rows, class Meanwhile>
HWY_INLINE void add_scales(const std::uint8_t* quants, const std::uint8_t* q, const Meanwhile& meanwhile,
                           const BlockOfWeights<Lanes, Format, all_rows>& block,
                           typename Lanes::Floats (&parts)[rows]) {
  constexpr int per_block = Format::layout.scales_per_block(), groups = 8 / per_block;
  if constexpr (i < per_block) {
    typename Lanes::Ints sums[rows];
#pragma GCC unroll 16
    for (std::size_t r = 0; r < rows; ++r) sums[r] = block.start(from + r, i);
    add_groups<Lanes, Format, i * groups, groups>(quants, q, meanwhile, sums);
#pragma GCC unroll 16
    for (std::size_t r = 0; r < rows; ++r) parts[r] = block.with_sum(parts[r], from + r, i, sums[r]);
    add_scales<Lanes, Format, i + 1, from>(quants, q, meanwhile, block, parts);
  }
}

/// Adds the contribution of a block of weights to rows [from, to) of x.
template <class Lanes, class Format, int from, int to, int all_rows, class Meanwhile>
HWY_INLINE void add_rows(const std::uint8_t* quants, const std::uint8_t* q, const Meanwhile& meanwhile,
                         const BlockOfWeights<Lanes, Format, all_rows>& block) {
  constexpr int rows = to - from;
  const auto start = Lanes::multiply(Lanes::float_of(-sum_start), block.scales[0]);
  typename Lanes::Floats parts[rows];
#pragma GCC unroll 16
  for (std::size_t r = 0; r < rows; ++r) parts[r] = start;
  add_scales<Lanes, Format, 0, from>(quants, q + 32 * from, meanwhile, block, parts);
#pragma GCC unroll 16
  for (std::size_t r = 0; r < rows; ++r) block.add(from + r, parts[r]);
}

/// Adds the contribution of a block of weights, for half of the rows at a time if the sums of all would
/// exhaust the registers.
template <class Lanes, class Format, int rows, class Meanwhile>
HWY_INLINE void add_block(const std::uint8_t* quants, const std::uint8_t* q, const Meanwhile& meanwhile,
                          const BlockOfWeights<Lanes, Format, rows>& block) {
  constexpr int first = rows > 8 ? div_up(rows, 2) : rows;
  add_rows<Lanes, Format, 0, first>(quants, q, meanwhile, block);
  if constexpr (first < rows) add_rows<Lanes, Format, first, rows>(quants, q, [](int) {}, block);
}

/// Stores a vector, or its first `count` lanes if that is fewer.
template <class Lanes>
HWY_INLINE void store_first(typename Lanes::Floats v, float* out, std::size_t count) {
  if (count >= Lanes::lanes) return Lanes::store(out, v);
  float all[Lanes::lanes];
  Lanes::store(all, v);
  std::memcpy(out, all, count * sizeof(float));
}

/// Computes y = Σ over blocks of weights of a · Σ over the block's scales of s · Σ c · q, minus the minima's
/// terms. Each block of weights is decoded once for all rows of x. The order of a row's operations is fixed,
/// independent of `rows` and the instruction set. All lanes also prefetch their share of the upcoming memory,
/// so that it is always busy.
template <class Lanes, class Format, int rows>
HWY_INLINE void multiply_lanes(const std::uint8_t* quants, const std::uint8_t* headers, std::size_t lane,
                               std::size_t blocks, PanelPrefetch& upcoming, const std::uint8_t* x,
                               typename Lanes::Floats (&y)[rows]) {
  constexpr QuantLayout layout = Format::layout;
  constexpr int per_block = layout.scales_per_block();
  constexpr int block_bytes = 64 * layout.bits();
  constexpr int prefetched =
      2 * block_bytes * static_cast<int>(Lanes::lanes) / panel_rows;  // for each block of x
  constexpr int header_share = 2 * Lanes::lanes * layout.header_bytes() / layout.blocks();
  constexpr ActivationBlock activation = activation_block<Lanes, Format>(rows);
  quants += 4 * lane;
  typename Lanes::Floats scales[layout.blocks() * per_block], mins[layout.blocks() * per_block];
  for (int r = 0; r < rows; ++r) y[r] = Lanes::zero_floats();
  for (std::size_t pair = 0; pair < blocks; pair += 2, x += activation.bytes()) {
    const auto add_half = [&]<std::size_t half>() __attribute__((always_inline)) {
      const std::size_t b = (pair + half) % layout.blocks();  // index in its super-block
      if (b == 0) {
        Format::decode_scales(quant::PanelHeader<Lanes>(headers, lane, layout.f16s), scales, mins);
        if (lane == 0) prefetch<panel_rows * layout.header_bytes()>(headers + upcoming.headers);
        headers += panel_rows * layout.header_bytes();
      }
      const BlockOfWeights<Lanes, Format, rows> block{
          scales + b * per_block, mins + b * per_block,
          x + activation.corrections_at() + 4 * half * per_block * rows,
          x + activation.scales_at() + 4 * half * rows, y};
      const std::uint8_t* const q = x + half * activation.half_bytes();
      const auto prefetch_with = [&](int group) __attribute__((always_inline)) {
        prefetch_share<prefetched, header_share, Lanes::prefetching.to>(
            upcoming, 8 * half + static_cast<std::size_t>(group), 16);
      };
      add_block<Lanes, Format>(quants, q, prefetch_with, block);
      quants += block_bytes;
    };
    add_half.template operator()<0>();
    if (layout.blocks() == 1 && pair + 1 == blocks) break;  // the last block of x is half-filled
    add_half.template operator()<1>();
    move_on<prefetched, header_share>(upcoming);
  }
}

template <class Lanes, class Format, int rows>
void multiply_panels(const PanelRun& run, const std::uint8_t* x, float* y, std::size_t stride) {
  for (std::size_t p = 0; p < run.panels(); ++p, y += panel_rows) {
    const std::uint8_t* const quants = run.quants_of(p);
    const std::size_t count = run.rows_of(p);
    PanelPrefetch upcoming = run.prefetch_after(p);
    for (std::size_t lane = 0; lane < count; lane += Lanes::lanes) {
      typename Lanes::Floats sums[rows];
      multiply_lanes<Lanes, Format, rows>(quants, quants + run.shape.headers_at(), lane, run.shape.blocks(),
                                          upcoming, x, sums);
      for (std::size_t r = 0; r < rows; ++r) store_first<Lanes>(sums[r], y + r * stride + lane, count - lane);
    }
  }
}

}  // namespace spectr
