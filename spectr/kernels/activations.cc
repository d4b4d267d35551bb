#include "spectr/kernels/activations.h"

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

/// 32 numbers x as line `line` of a block, q at its byte `from`.
HWY_INLINE void QuantiseBlock(const float* x, const ActivationBlock& block, std::size_t line,
                              std::size_t from, bool has_min, int factor, std::uint8_t* out) {
  const hn::CappedTag<float, 16> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<std::int8_t, decltype(d)> d8;
  const std::size_t lanes = hn::Lanes(d);
  auto largest = hn::Zero(d);
  for (std::size_t j = 0; j < 32; j += lanes) largest = hn::Max(largest, hn::Abs(hn::LoadU(d, x + j)));
  const float max = hn::GetLane(hn::MaxOfLanes(d, largest));
  const bool nothing = max < 1e-30f;  // the reciprocal of less could overflow
  const float reciprocal = nothing ? 0.0f : 127.0f / max;
  const float a = nothing ? 0.0f : max / 127.0f;
  Put(a, out + block.scales_at() + 4 * line);

  auto* q = reinterpret_cast<std::int8_t*>(out + block.line_bytes() * line + from);
  std::uint8_t* correction = out + block.corrections_at() + 4 * line;
  const std::size_t columns = 32 / static_cast<std::size_t>(block.corrections);
  for (std::size_t begin = 0; begin < 32; begin += columns) {
    auto sum = hn::Zero(di);
    for (std::size_t j = begin; j < begin + columns; j += lanes) {
      const auto rounded = hn::NearestInt(hn::Mul(hn::LoadU(d, x + j), hn::Set(d, reciprocal)));
      hn::StoreU(hn::DemoteTo(d8, rounded), d8, q + j);
      sum = hn::Add(sum, rounded);
    }
    const int total = hn::GetLane(hn::SumOfLanes(di, sum));
    has_min ? Put(a * static_cast<float>(total), correction) : Put(factor * total, correction);
    correction += 4 * block.lines();
  }
}

void QuantiseRow(std::span<const float> x, const CodeLayout& layout, int factor, const ActivationBlock& block,
                 int r, std::uint8_t* out) {
  const float* const end = x.data() + x.size();
  for (const float* next = x.data(); next < end; out += block.bytes()) {
    for (int i = 0; i < block.together; ++i, next += 32) {
      const auto line = static_cast<std::size_t>(i * block.rows + r), from = static_cast<std::size_t>(32 * i);
      if (block.together == 2) std::memset(out + block.line_bytes() * line + (32 - from), 0, 32);
      QuantiseBlock(next, block, line, from, layout.has_min, factor, out);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace spectr
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace spectr {

HWY_EXPORT(QuantiseRow);

void quantise_row(std::span<const float> x, const CodeLayout& layout, int factor,
                  const ActivationBlock& block, int r, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(QuantiseRow)(x, layout, factor, block, r, out);
}

}  // namespace spectr
#endif
