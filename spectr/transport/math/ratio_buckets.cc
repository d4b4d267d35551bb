#include "spectr/transport/math/ratio_buckets.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "spectr/base/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "spectr/transport/math/ratio_buckets.cc"
#include <hwy/foreach_target.h>
// Highway first compiles one copy per instruction set.
#include <hwy/highway.h>

// Names follow Highway's conventions.
// NOLINTBEGIN(readability-identifier-naming,modernize-concat-nested-namespaces)
HWY_BEFORE_NAMESPACE();
namespace spectr {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Computes the buckets of `size` tokens: ((bits of q/p − lowest) >> shift) + 1, clamped to [0, last].
void Bucket(const double* p, const double* q, std::size_t size, double floor, std::int64_t lowest, int shift,
            std::int64_t last, std::uint16_t* out) {
  const auto bucket = [&](auto d, std::size_t i) HWY_ATTR {
    const hn::RebindToSigned<decltype(d)> bits;
    const hn::RebindToUnsigned<decltype(d)> wide;
    const hn::Rebind<std::uint16_t, decltype(d)> narrow;
    const auto target = hn::LoadU(d, q + i);
    const auto ratio =
        hn::Div(hn::IfThenElseZero(hn::Gt(target, hn::Set(d, floor)), target), hn::LoadU(d, p + i));
    const auto above = hn::Sub(hn::BitCast(bits, ratio), hn::Set(bits, lowest));
    const auto index = hn::Add(hn::ShiftRightSame(above, shift), hn::Set(bits, 1));
    const auto within = hn::Min(hn::Max(index, hn::Zero(bits)), hn::Set(bits, last));
    hn::StoreU(hn::TruncateTo(narrow, hn::BitCast(wide, within)), narrow, out + i);
  };
  const hn::ScalableTag<double> d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= size; i += hn::Lanes(d)) bucket(d, i);
  for (; i < size; ++i) bucket(hn::CappedTag<double, 1>(), i);
}

}  // namespace HWY_NAMESPACE
}  // namespace spectr
HWY_AFTER_NAMESPACE();
// NOLINTEND(readability-identifier-naming,modernize-concat-nested-namespaces)

#if HWY_ONCE
namespace spectr {

HWY_EXPORT(Bucket);

RatioBuckets::RatioBuckets(std::span<const double> p, std::span<const double> q, double floor,
                           double max_ratio)
    : p_(p), q_(q), floor_(floor), bucket_(p.size()) {
  SPECTR_CHECK(p.size() == q.size() && max_ratio >= 1.0 && max_ratio <= 0x1p16);
  const auto largest =
      static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(std::exp2(std::ceil(std::log2(max_ratio)))));
  const std::int64_t last = ((largest - lowest) >> shift) + 1;
  sums_.resize(static_cast<std::size_t>(last) + 1);

  // Two independent sums per bucket, over blocks of tokens that are small enough to keep rounding errors
  // small.
  constexpr std::size_t block = 2048;
  RecycledVector<Masses> even(sums_.size()), odd(sums_.size());
  for (std::size_t begin = 0; begin < p.size(); begin += block) {
    const std::size_t end = std::min(begin + block, p.size());
    std::uint16_t* const bucket = bucket_.data();
    HWY_DYNAMIC_DISPATCH(Bucket)
    (&p[begin], &q[begin], end - begin, floor, lowest, shift, last, bucket + begin);
    const auto add = [&](RecycledVector<Masses>& sums, std::size_t i) {
      Masses& sum = sums[bucket[i]];
      sum = {sum.p + p[i], sum.q + floored(q[i])};
    };
    std::size_t i = begin;
    for (; i + 1 < end; i += 2) {
      add(even, i);
      add(odd, i + 1);
    }
    if (i < end) add(even, i);
    for (std::size_t b = 0; b < sums_.size(); ++b) {
      sums_[b] = {sums_[b].p + (even[b].p + odd[b].p), sums_[b].q + (even[b].q + odd[b].q)};
      even[b] = odd[b] = {};
    }
  }
}

std::size_t RatioBuckets::bucket(double ratio) const {
  const std::int64_t index = ((std::bit_cast<std::int64_t>(ratio + 0.0) - lowest) >> shift) + 1;
  return static_cast<std::size_t>(std::clamp<std::int64_t>(index, 0, static_cast<std::int64_t>(size()) - 1));
}

RecycledVector<Masses> RatioBuckets::tokens(std::size_t b) const {
  constexpr std::size_t block = 64;
  RecycledVector<Masses> found;
  const auto wanted = static_cast<std::uint16_t>(b);
  for (std::size_t begin = 0; begin < p_.size(); begin += block) {
    const std::size_t end = std::min(begin + block, p_.size());
    std::uint16_t any = 0;
    for (std::size_t i = begin; i < end; ++i) any |= bucket_[i] == wanted ? 1 : 0;
    if (any == 0) continue;
    for (std::size_t i = begin; i < end; ++i) {
      if (bucket_[i] == wanted) found.push_back({p_[i], floored(q_[i])});
    }
  }
  return found;
}

}  // namespace spectr
#endif
