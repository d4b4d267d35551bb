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

/// Quantises the 32 numbers at x; sums[h] = Σ q over half h. Returns a.
float QuantiseBlock(const float* x, std::int8_t* q, int (&sums)[2]) {
  const hn::CappedTag<float, 16> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<std::int8_t, decltype(d)> d8;
  const std::size_t lanes = hn::Lanes(d);
  auto largest = hn::Zero(d);
  for (std::size_t j = 0; j < 32; j += lanes) largest = hn::Max(largest, hn::Abs(hn::LoadU(d, x + j)));
  const float max = hn::GetLane(hn::MaxOfLanes(d, largest));
  const bool nothing = max < 1e-30f;  // the reciprocal of less could overflow
  const float reciprocal = nothing ? 0.0f : 127.0f / max;
  for (std::size_t half = 0; half < 2; ++half) {
    auto sum = hn::Zero(di);
    for (std::size_t j = 16 * half; j < 16 * half + 16; j += lanes) {
      const auto rounded = hn::NearestInt(hn::Mul(hn::LoadU(d, x + j), hn::Set(d, reciprocal)));
      hn::StoreU(hn::DemoteTo(d8, rounded), d8, q + j);
      sum = hn::Add(sum, rounded);
    }
    sums[half] = hn::GetLane(hn::SumOfLanes(di, sum));
  }
  return nothing ? 0.0f : max / 127.0f;
}

void QuantiseRows(Span2d<const float> x, const CodeLayout& layout, int factor, std::uint8_t* out) {
  const ActivationBlock block{static_cast<int>(x.rows()), layout.scales_per_block()};
  for (std::size_t r = 0; r < x.rows(); ++r) {
    for (std::size_t b = 0; b < x.cols() / 32; ++b) {
      std::uint8_t* at = out + b * block.bytes();
      int sums[2];
      const float a = QuantiseBlock(x[r].data() + 32 * b, reinterpret_cast<std::int8_t*>(at + 32 * r), sums);
      std::memcpy(at + block.scales_at() + 4 * r, &a, 4);
      if (block.corrections == 1) sums[0] += sums[1];
      for (int i = 0; i < block.corrections; ++i) {
        std::uint8_t* correction =
            at + block.corrections_at() + 4 * (static_cast<std::size_t>(i) * x.rows() + r);
        const float scaled = a * static_cast<float>(sums[i]);
        const int offset = factor * sums[i];
        std::memcpy(correction, layout.has_min ? static_cast<const void*>(&scaled) : &offset, 4);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace spectr
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace spectr {

HWY_EXPORT(QuantiseRows);

void quantise_rows(Span2d<const float> x, const CodeLayout& layout, int factor, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(QuantiseRows)(x, layout, factor, out);
}

}  // namespace spectr
#endif
