#include "spectr/backend/cpu/kernels/activations.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "spectr/backend/cpu/kernels/activations.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h, which compiles this file once per instruction set.
#include <hwy/highway.h>

// Names follow Highway's convention.
// NOLINTBEGIN(readability-identifier-naming,modernize-concat-nested-namespaces)
HWY_BEFORE_NAMESPACE();
namespace spectr {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Writes `value` as 4 bytes.
template <class T>
HWY_INLINE void Put(T value, std::uint8_t* at) {
  static_assert(sizeof value == 4);
  std::memcpy(at, &value, 4);
}

/// Addresses of half a block of one row.
struct Half {
  std::uint8_t* quants;       // 32 bytes
  std::uint8_t* scale;        // a
  std::uint8_t* corrections;  // the first
  std::size_t step;           // bytes from one correction to the next
};

/// Returns Σ of n signed bytes, n a multiple of 16.
template <std::size_t n>
HWY_INLINE int SumOfQuants(const std::uint8_t* q) {
  const hn::CappedTag<std::uint8_t, 16> d;
  const hn::Repartition<std::uint64_t, decltype(d)> d64;
  constexpr int excess = 128;  // makes the bytes unsigned
  auto sum = hn::Zero(d64);
  for (std::size_t j = 0; j < n; j += hn::Lanes(d)) {
    sum = hn::Add(sum, hn::SumsOf8(hn::Xor(hn::LoadU(d, q + j), hn::Set(d, excess))));
  }
  return static_cast<int>(hn::GetLane(hn::SumOfLanes(d64, sum))) - static_cast<int>(n) * excess;
}

/// Returns the largest |x[j]| of half a block, or NaN if there is one. As integers, the bits of |x| have the
/// same order as the numbers; a NaN is the largest.
HWY_INLINE float LargestSize(const float* x) {
  const hn::CappedTag<float, 16> d;
  const hn::RebindToSigned<decltype(d)> di;
  const std::size_t lanes = hn::Lanes(d);
  auto largest = hn::Zero(di);
  for (std::size_t j = 0; j < ActivationBlock::half; j += lanes) {
    largest = hn::Max(largest, hn::BitCast(di, hn::Abs(hn::LoadU(d, x + j))));
  }
  return std::bit_cast<float>(hn::GetLane(hn::MaxOfLanes(di, largest)));
}

/// Quantizes 32 numbers x as half a block of one row, with `corrections` corrections.
template <std::size_t corrections, bool floats>
HWY_INLINE void QuantizeHalf(const float* x, int factor, const Half& half) {
  const hn::CappedTag<float, 16> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  const std::size_t lanes = hn::Lanes(d);
  const float max = LargestSize(x);
  const bool nothing = max < 1e-30f;  // below that, the reciprocal could overflow
  const float reciprocal = nothing ? 0.0f : 127.0f / max;
  Put(nothing ? 0.0f : max / 127.0f, half.scale);

  // Adding a float whose last bit has value 1 rounds to an integer, which is then in the sum's low byte.
  for (std::size_t j = 0; j < ActivationBlock::half; j += lanes) {
    const auto rounded = hn::Add(hn::Mul(hn::LoadU(d, x + j), hn::Set(d, reciprocal)), hn::Set(d, sum_start));
    hn::StoreU(hn::TruncateTo(d8, hn::BitCast(du, rounded)), d8, half.quants + j);
  }

  constexpr std::size_t columns = ActivationBlock::half / std::max<std::size_t>(corrections, 1);
  for (std::size_t i = 0; i < corrections; ++i) {
    const int total = SumOfQuants<columns>(half.quants + i * columns);
    std::uint8_t* const correction = half.corrections + i * half.step;
    if constexpr (floats) {
      Put(static_cast<float>(total), correction);
    } else {
      Put(std::bit_cast<std::int32_t>(sum_start) + factor * total, correction);
    }
  }
}

/// Quantizes a row of blocks, with `corrections` corrections in each half.
template <std::size_t corrections, bool floats>
HWY_INLINE void QuantizeBlocks(std::span<const float> x, const ActivationBlock block, std::size_t r,
                               std::uint8_t* out) {
  constexpr std::size_t columns = ActivationBlock::columns, half = ActivationBlock::half;
  const auto rows = static_cast<std::size_t>(block.rows);
  for (; !x.empty(); out += block.bytes()) {
    float padded[columns];
    const float* next = x.data();
    if (x.size() < columns) {
      std::fill(std::copy(x.begin(), x.end(), padded), padded + columns, 0.0f);
      next = padded;
    }
    std::uint8_t* const first = out + block.line_bytes() * r;
    std::uint8_t* second = first + block.half_bytes();
    if (block.lines == ActivationBlock::Lines::separate_halves) {
      std::memset(first + half, 0, half);
      std::memset(second, 0, half);
      second += half;
    }
    std::uint8_t* const scale = out + block.scales_at() + 4 * r;
    std::uint8_t* const first_corrections = out + block.corrections_at() + 4 * r;
    QuantizeHalf<corrections, floats>(next, block.factor, {first, scale, first_corrections, 4 * rows});
    QuantizeHalf<corrections, floats>(
        next + half, block.factor,
        {second, scale + 4 * rows, first_corrections + 4 * rows * corrections, 4 * rows});
    x = x.subspan(std::min(x.size(), columns));
  }
}

void QuantizeRow(std::span<const float> x, const ActivationBlock& block, std::size_t r, std::uint8_t* out) {
  const bool floats = block.factor == 0;
  if (block.corrections == 0) return QuantizeBlocks<0, false>(x, block, r, out);
  if (block.corrections == 2 && floats) return QuantizeBlocks<1, true>(x, block, r, out);
  if (block.corrections == 2) return QuantizeBlocks<1, false>(x, block, r, out);
  if (floats) return QuantizeBlocks<2, true>(x, block, r, out);
  QuantizeBlocks<2, false>(x, block, r, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace spectr
HWY_AFTER_NAMESPACE();
// NOLINTEND(readability-identifier-naming,modernize-concat-nested-namespaces)

#if HWY_ONCE
namespace spectr {

HWY_EXPORT(QuantizeRow);

void quantize_row(std::span<const float> x, const ActivationBlock& block, int r, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(QuantizeRow)(x, block, static_cast<std::size_t>(r), out);
}

}  // namespace spectr
#endif
