#include "spectr/kernels/activations.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "spectr/kernels/activations.cc"
#include <hwy/foreach_target.h>
// One copy per instruction set comes first.
#include <hwy/highway.h>

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

/// Where a line of a block is, and what belongs to it.
struct Line {
  std::uint8_t* q;            // of 32 columns
  std::uint8_t* scale;        // a
  std::uint8_t* corrections;  // the first
  std::size_t apart;          // bytes from one correction to the next
};

/// Σ of n signed bytes, n a multiple of 16.
template <std::size_t n>
HWY_INLINE int SumOfCodes(const std::uint8_t* q) {
  const hn::CappedTag<std::uint8_t, 16> d;
  const hn::Repartition<std::uint64_t, decltype(d)> d64;
  constexpr int excess = 128;  // what makes them unsigned
  auto sum = hn::Zero(d64);
  for (std::size_t j = 0; j < n; j += hn::Lanes(d)) {
    sum = hn::Add(sum, hn::SumsOf8(hn::Xor(hn::LoadU(d, q + j), hn::Set(d, excess))));
  }
  return static_cast<int>(hn::GetLane(hn::SumOfLanes(d64, sum))) - static_cast<int>(n) * excess;
}

/// 32 numbers x as a line with `corrections` corrections.
template <std::size_t corrections, bool has_min>
HWY_INLINE void QuantiseLine(const float* x, int factor, const Line& line) {
  const hn::CappedTag<float, 16> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  const std::size_t lanes = hn::Lanes(d);
  auto largest = hn::Abs(hn::LoadU(d, x));
  for (std::size_t j = lanes; j < 32; j += lanes) largest = hn::Max(largest, hn::Abs(hn::LoadU(d, x + j)));
  const float max = hn::GetLane(hn::MaxOfLanes(d, largest));
  const bool nothing = max < 1e-30f;  // the reciprocal of less could overflow
  const float reciprocal = nothing ? 0.0f : 127.0f / max;
  const float a = nothing ? 0.0f : max / 127.0f;
  Put(a, line.scale);

  // Beside so large a number floats are the integers, and their last byte is that of the integer.
  constexpr float large = 12582912.0f;  // 1.5 · 2²³
  for (std::size_t j = 0; j < 32; j += lanes) {
    const auto rounded = hn::Add(hn::Mul(hn::LoadU(d, x + j), hn::Set(d, reciprocal)), hn::Set(d, large));
    hn::StoreU(hn::TruncateTo(d8, hn::BitCast(du, rounded)), d8, line.q + j);
  }
  constexpr std::size_t columns = 32 / std::max<std::size_t>(corrections, 1);
  for (std::size_t i = 0; i < corrections; ++i) {
    const int total = SumOfCodes<columns>(line.q + i * columns);
    std::uint8_t* const correction = line.corrections + i * line.apart;
    has_min ? Put(a * static_cast<float>(total), correction) : Put(factor * total, correction);
  }
}

template <std::size_t corrections, bool has_min>
HWY_INLINE void QuantiseLines(std::span<const float> x, int factor, const ActivationBlock block, int r,
                              std::uint8_t* out) {
  const float* const end = x.data() + x.size();
  for (const float* next = x.data(); next < end; out += block.bytes()) {
    for (int i = 0; i < block.together; ++i, next += 32) {
      const auto line = static_cast<std::size_t>(i * block.rows + r), from = static_cast<std::size_t>(32 * i);
      std::uint8_t* const q = out + block.line_bytes() * line;
      if (block.together == 2) std::memset(q + (32 - from), 0, 32);
      QuantiseLine<corrections, has_min>(
          next, factor,
          {q + from, out + block.scales_at() + 4 * line, out + block.corrections_at() + 4 * line,
           static_cast<std::size_t>(4 * block.lines())});
    }
  }
}

void QuantiseRow(std::span<const float> x, bool has_min, int factor, const ActivationBlock& block, int r,
                 std::uint8_t* out) {
  if (block.corrections == 0) return QuantiseLines<0, false>(x, factor, block, r, out);
  if (block.corrections == 1 && has_min) return QuantiseLines<1, true>(x, factor, block, r, out);
  if (block.corrections == 1) return QuantiseLines<1, false>(x, factor, block, r, out);
  if (has_min) return QuantiseLines<2, true>(x, factor, block, r, out);
  QuantiseLines<2, false>(x, factor, block, r, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace spectr
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace spectr {

HWY_EXPORT(QuantiseRow);

void quantise_row(std::span<const float> x, const CodeLayout& layout, int factor,
                  const ActivationBlock& block, int r, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(QuantiseRow)(x, layout.has_min, factor, block, r, out);
}

}  // namespace spectr
#endif
