#include "spectr/kernels/attention.h"

#include <algorithm>
#include <functional>

#include "spectr/base/check.h"
#include "spectr/kernels/vector_ops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "spectr/kernels/attention.cc"
#include <hwy/foreach_target.h>
// One copy per instruction set comes first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace spectr {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::CappedTag<float, key_group>;

/// scores[…] = scale · q·K of one group of slots, or of four, whose sums do not wait for one another. A lane
/// is a slot and sums over the dimensions in their order.
template <int groups>
HWY_INLINE void ScoreGroups(std::span<const float> q, const float* keys, float scale, float* scores) {
  const Lanes d;
  const std::size_t apart = key_group * q.size();
  for (std::size_t lane = 0; lane < key_group; lane += hn::Lanes(d)) {
    auto a = hn::Zero(d), b = hn::Zero(d), c = hn::Zero(d), e = hn::Zero(d);
    const float* at = keys + lane;
    for (std::size_t j = 0; j < q.size(); ++j, at += key_group) {
      const auto factor = hn::Set(d, q[j]);
      a = hn::MulAdd(factor, hn::LoadU(d, at), a);
      if constexpr (groups == 4) {
        b = hn::MulAdd(factor, hn::LoadU(d, at + apart), b);
        c = hn::MulAdd(factor, hn::LoadU(d, at + 2 * apart), c);
        e = hn::MulAdd(factor, hn::LoadU(d, at + 3 * apart), e);
      }
    }
    float* const out = scores + lane;
    const auto by = hn::Set(d, scale);
    hn::StoreU(hn::Mul(by, a), d, out);
    if constexpr (groups == 4) {
      hn::StoreU(hn::Mul(by, b), d, out + key_group);
      hn::StoreU(hn::Mul(by, c), d, out + 2 * key_group);
      hn::StoreU(hn::Mul(by, e), d, out + 3 * key_group);
    }
  }
}

/// Values of the slots in the order of their weights: the first `prefix` ones, then the listed ones.
struct ValueRows {
  const float* rows;
  std::size_t width;
  std::size_t prefix;
  std::span<const int> extra;

  HWY_INLINE const float* operator[](std::size_t s) const {
    return rows + (s < prefix ? s : static_cast<std::size_t>(extra[s - prefix])) * width;
  }
};

/// out[j …] = Σ_s weights[s] values[s][j …] for n ≤ 4 vectors, even and odd s apart.
template <int n, class D>
HWY_INLINE void WeightedSum(D d, const ValueRows& values, std::span<const float> weights, std::size_t j,
                            float* out) {
  const std::size_t lanes = hn::Lanes(d);
  auto a = hn::Zero(d), b = hn::Zero(d), c = hn::Zero(d), e = hn::Zero(d);
  auto a2 = a, b2 = b, c2 = c, e2 = e;
  const auto add = [&](std::size_t s, auto& one, auto& two, auto& three, auto& four) HWY_ATTR {
    const float* const row = values[s] + j;
    const auto weight = hn::Set(d, weights[s]);
    one = hn::MulAdd(weight, hn::LoadU(d, row), one);
    if constexpr (n > 1) two = hn::MulAdd(weight, hn::LoadU(d, row + lanes), two);
    if constexpr (n > 2) three = hn::MulAdd(weight, hn::LoadU(d, row + 2 * lanes), three);
    if constexpr (n > 3) four = hn::MulAdd(weight, hn::LoadU(d, row + 3 * lanes), four);
  };
  std::size_t s = 0;
  for (; s + 2 <= weights.size(); s += 2) {
    add(s, a, b, c, e);
    add(s + 1, a2, b2, c2, e2);
  }
  if (s < weights.size()) add(s, a, b, c, e);
  hn::StoreU(hn::Add(a, a2), d, out + j);
  if constexpr (n > 1) hn::StoreU(hn::Add(b, b2), d, out + j + lanes);
  if constexpr (n > 2) hn::StoreU(hn::Add(c, c2), d, out + j + 2 * lanes);
  if constexpr (n > 3) hn::StoreU(hn::Add(e, e2), d, out + j + 3 * lanes);
}

void Attend(std::span<const float> q, const float* keys, const float* values, std::size_t prefix,
            std::span<const int> extra, float scale, float* scores, float* out) {
  // Listed slots are close behind the prefix: all slots up to the last one are scored, at less than what
  // single ones would cost, and the listed scores move up.
  const std::size_t end = extra.empty() ? prefix : static_cast<std::size_t>(extra.back()) + 1;
  constexpr std::size_t four = 4 * key_group;
  std::size_t s = 0;
  for (; s + four <= end; s += four) ScoreGroups<4>(q, keys + s * q.size(), scale, scores + s);
  for (; s < end; s += key_group) ScoreGroups<1>(q, keys + s * q.size(), scale, scores + s);
  for (std::size_t i = 0; i < extra.size(); ++i) scores[prefix + i] = scores[extra[i]];
  const std::span<float> weights(scores, prefix + extra.size());
  softmax(weights);

  const ValueRows rows{values, q.size(), prefix, extra};
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t j = 0;
  for (; j + 4 * lanes <= q.size(); j += 4 * lanes) WeightedSum<4>(d, rows, weights, j, out);
  const std::size_t left = (q.size() - j) / lanes;
  if (left == 3) WeightedSum<3>(d, rows, weights, j, out);
  if (left == 2) WeightedSum<2>(d, rows, weights, j, out);
  if (left == 1) WeightedSum<1>(d, rows, weights, j, out);
  for (j += left * lanes; j < q.size(); ++j) WeightedSum<1>(hn::CappedTag<float, 1>(), rows, weights, j, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace spectr
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace spectr {

HWY_EXPORT(Attend);

void attend(std::span<const float> q, const float* keys, const float* values, std::size_t prefix,
            std::span<const int> extra, float scale, std::span<float> scores, std::span<float> out) {
  SPECTR_CHECK(out.size() == q.size() && prefix + extra.size() >= 1);
  SPECTR_CHECK(extra.empty() || static_cast<std::size_t>(extra.front()) >= prefix);
  SPECTR_CHECK(std::ranges::adjacent_find(extra, std::greater_equal()) == extra.end());
  const std::size_t slots = extra.empty() ? prefix : static_cast<std::size_t>(extra.back()) + 1;
  SPECTR_CHECK(scores.size() >= slots + key_group);
  HWY_DYNAMIC_DISPATCH(Attend)(q, keys, values, prefix, extra, scale, scores.data(), out.data());
}

}  // namespace spectr
#endif
