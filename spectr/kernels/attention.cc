#include "spectr/kernels/attention.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

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

/// A vector of neighbouring slots: a group, or as much of one as fits.
using GroupTag = hn::CappedTag<float, key_group>;

/// A vector of floats, from floats or from halves.
template <class D>
HWY_INLINE hn::Vec<D> LoadFloats(D d, const float* at) {
  return hn::LoadU(d, at);
}
template <class D>
HWY_INLINE hn::Vec<D> LoadFloats(D d, const Half* at) {
  const hn::Rebind<hwy::float16_t, D> halves;
  const auto floats = hn::PromoteTo(d, hn::LoadU(halves, reinterpret_cast<const hwy::float16_t*>(at)));
#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX2  // Highway's own conversion, which knows no infinity and no NaN
  const hn::RebindToUnsigned<D> words;
  const hn::Rebind<std::uint16_t, D> packed;
  const auto bits = hn::PromoteTo(words, hn::LoadU(packed, reinterpret_cast<const std::uint16_t*>(at)));
  const auto exponent = hn::Set(words, 0x7C00);
  const auto special =
      hn::Or(hn::ShiftLeft<13>(hn::And(bits, hn::Set(words, 0x3FF))),
             hn::Or(hn::ShiftLeft<16>(hn::And(bits, hn::Set(words, 0x8000))), hn::Set(words, 0x7F80'0000)));
  const auto is_special = hn::Eq(hn::And(bits, exponent), exponent);
  return hn::IfThenElse(hn::RebindMask(d, is_special), hn::BitCast(d, special), floats);
#else
  return floats;
#endif
}

/// One head's keys and values, floats or halves, and the factor of all scores.
template <class T>
struct Head {
  std::size_t dim;
  const T* keys;
  const T* values;
  float scale;

  const T* group(std::size_t slot) const { return keys + slot * dim; }
};

/// While dimension j of some groups' keys is used, starts to load as much of the same slots' values: memory
/// answers faster in several places at once, and rests while nothing but sums are made.
template <std::size_t groups, class T>
HWY_INLINE void FetchValues(const Head<T>& head, std::size_t slot, std::size_t j) {
  constexpr std::size_t line = 64 / sizeof(T);
  if (j * key_group % line != 0) return;
  const T* at = head.values + slot * head.dim + j * key_group;
  for (std::size_t g = 0; g < groups; ++g, at += key_group * head.dim) __builtin_prefetch(at, 0, 2);
}

/// scores[…] = scale · q·K of one group of slots, or of four, whose sums do not wait for one another. A lane
/// is a slot and sums over the dimensions in their order.
template <int groups, class T>
HWY_INLINE void ScoreGroups(const Head<T>& head, const float* q, std::size_t slot, float* scores) {
  const GroupTag d;
  const std::size_t apart = key_group * head.dim;
  for (std::size_t lane = 0; lane < key_group; lane += hn::Lanes(d)) {
    auto a = hn::Zero(d), b = hn::Zero(d), c = hn::Zero(d), e = hn::Zero(d);
    const T* at = head.group(slot) + lane;
    for (std::size_t j = 0; j < head.dim; ++j, at += key_group) {
      if (lane == 0) FetchValues<groups>(head, slot, j);
      const auto factor = hn::Set(d, q[j]);
      a = hn::MulAdd(factor, LoadFloats(d, at), a);
      if constexpr (groups == 4) {
        b = hn::MulAdd(factor, LoadFloats(d, at + apart), b);
        c = hn::MulAdd(factor, LoadFloats(d, at + 2 * apart), c);
        e = hn::MulAdd(factor, LoadFloats(d, at + 3 * apart), e);
      }
    }
    float* const out = scores + slot + lane;
    const auto by = hn::Set(d, head.scale);
    hn::StoreU(hn::Mul(by, a), d, out);
    if constexpr (groups == 4) {
      hn::StoreU(hn::Mul(by, b), d, out + key_group);
      hn::StoreU(hn::Mul(by, c), d, out + 2 * key_group);
      hn::StoreU(hn::Mul(by, e), d, out + 3 * key_group);
    }
  }
}

/// The scores of a query for all slots up to the last one that it attends to: the listed ones are close
/// after the prefix, and single ones would cost more than whole groups.
template <class T>
void Score(const Head<T>& head, const Query& query, float* scores) {
  constexpr std::size_t four = 4 * key_group;
  std::size_t s = 0;
  for (; s + four <= query.slots(); s += four) ScoreGroups<4>(head, query.q, s, scores);
  for (; s < query.slots(); s += key_group) ScoreGroups<1>(head, query.q, s, scores);
}

/// Weights from scores: those of the prefix, then those of the listed slots, which move up. What fills the
/// last group weighs nothing, so that there are whole vectors only.
void Weigh(const Query& query, float* scores) {
  constexpr float nothing = -std::numeric_limits<float>::infinity();
  const std::size_t count = query.prefix + query.extra.size();
  const std::size_t whole = (count + key_group - 1) / key_group * key_group;
  for (std::size_t i = 0; i < query.extra.size(); ++i) scores[query.prefix + i] = scores[query.extra[i]];
  std::fill(scores + count, scores + whole, nothing);
  softmax({scores, whole});
}

/// The values that the weights of a query belong to.
template <class T>
struct ValueRows {
  const Head<T>& head;
  const Query& query;

  std::size_t size() const { return query.prefix + query.extra.size(); }
  HWY_INLINE const T* operator[](std::size_t s) const {
    const std::size_t slot = s < query.prefix ? s : static_cast<std::size_t>(query.extra[s - query.prefix]);
    return head.values + slot * head.dim;
  }
};

/// out[j …] = Σ_s weights[s] values[s][j …] for n ≤ 4 vectors, even and odd s apart.
template <int n, class D, class T>
HWY_INLINE void WeightedSum(D d, const ValueRows<T>& values, const float* weights, std::size_t j) {
  const std::size_t lanes = hn::Lanes(d);
  auto a = hn::Zero(d), b = hn::Zero(d), c = hn::Zero(d), e = hn::Zero(d);
  auto a2 = a, b2 = b, c2 = c, e2 = e;
  const auto add = [&](std::size_t s, auto& one, auto& two, auto& three, auto& four) HWY_ATTR {
    const T* const row = values[s] + j;
    const auto weight = hn::Set(d, weights[s]);
    one = hn::MulAdd(weight, LoadFloats(d, row), one);
    if constexpr (n > 1) two = hn::MulAdd(weight, LoadFloats(d, row + lanes), two);
    if constexpr (n > 2) three = hn::MulAdd(weight, LoadFloats(d, row + 2 * lanes), three);
    if constexpr (n > 3) four = hn::MulAdd(weight, LoadFloats(d, row + 3 * lanes), four);
  };
  std::size_t s = 0;
  for (; s + 2 <= values.size(); s += 2) {
    add(s, a, b, c, e);
    add(s + 1, a2, b2, c2, e2);
  }
  if (s < values.size()) add(s, a, b, c, e);
  float* const out = values.query.out + j;
  hn::StoreU(hn::Add(a, a2), d, out);
  if constexpr (n > 1) hn::StoreU(hn::Add(b, b2), d, out + lanes);
  if constexpr (n > 2) hn::StoreU(hn::Add(c, c2), d, out + 2 * lanes);
  if constexpr (n > 3) hn::StoreU(hn::Add(e, e2), d, out + 3 * lanes);
}

/// One query by itself, from dimension j on.
template <class T>
void SumValues(const ValueRows<T>& values, const float* weights, std::size_t j) {
  const std::size_t dim = values.head.dim;
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  for (; j + 4 * lanes <= dim; j += 4 * lanes) WeightedSum<4>(d, values, weights, j);
  const std::size_t left = (dim - j) / lanes;
  if (left == 3) WeightedSum<3>(d, values, weights, j);
  if (left == 2) WeightedSum<2>(d, values, weights, j);
  if (left == 1) WeightedSum<1>(d, values, weights, j);
  for (j += left * lanes; j < dim; ++j) WeightedSum<1>(hn::CappedTag<float, 1>(), values, weights, j);
}

#if !HWY_HAVE_SCALABLE  // an array of vectors needs vectors of a known size

/// The scores of n queries for the slots of some groups: every key is loaded once for all.
template <std::size_t n, std::size_t groups, class T>
HWY_INLINE void ScoreTogether(const Head<T>& head, std::span<const Query> queries, std::size_t slot,
                              float* const* scores) {
  const GroupTag d;
  using V = hn::Vec<GroupTag>;
  const std::size_t apart = key_group * head.dim;
  for (std::size_t lane = 0; lane < key_group; lane += hn::Lanes(d)) {
    V sums[n][groups];
    for (auto& row : sums) {
      for (V& sum : row) sum = hn::Zero(d);
    }
    const T* at = head.group(slot) + lane;
    for (std::size_t j = 0; j < head.dim; ++j, at += key_group) {
      if (lane == 0) FetchValues<groups>(head, slot, j);
      V keys[groups];
      for (std::size_t g = 0; g < groups; ++g) keys[g] = LoadFloats(d, at + g * apart);
      for (std::size_t r = 0; r < n; ++r) {
        const V factor = hn::Set(d, queries[r].q[j]);
        for (std::size_t g = 0; g < groups; ++g) sums[r][g] = hn::MulAdd(factor, keys[g], sums[r][g]);
      }
    }
    const V by = hn::Set(d, head.scale);
    for (std::size_t r = 0; r < n; ++r) {
      for (std::size_t g = 0; g < groups; ++g)
        hn::StoreU(hn::Mul(by, sums[r][g]), d, scores[r] + slot + lane + g * key_group);
    }
  }
}

/// WeightedSum<vectors> for n queries: every value among the first `shared`, an even number, is loaded once
/// for all.
template <std::size_t n, std::size_t vectors, class D, class T>
HWY_INLINE void SumTogether(D d, const Head<T>& head, const Query* queries, std::size_t shared,
                            float* const* weights, std::size_t j) {
  using V = hn::Vec<D>;
  const std::size_t lanes = hn::Lanes(d);
  V even[n][vectors], odd[n][vectors];
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t v = 0; v < vectors; ++v) even[r][v] = odd[r][v] = hn::Zero(d);
  }
  const auto load = [&](const T* at, V(&values)[vectors]) HWY_ATTR {
    for (std::size_t v = 0; v < vectors; ++v) values[v] = LoadFloats(d, at + v * lanes);
  };
  const auto add = [&](float weight, const V(&values)[vectors], V(&row)[vectors]) HWY_ATTR {
    const V factor = hn::Set(d, weight);
    for (std::size_t v = 0; v < vectors; ++v) row[v] = hn::MulAdd(factor, values[v], row[v]);
  };
  V values[vectors];
  const T* at = head.values + j;
  for (std::size_t s = 0; s < shared; s += 2, at += 2 * head.dim) {
    load(at, values);
    for (std::size_t r = 0; r < n; ++r) add(weights[r][s], values, even[r]);
    load(at + head.dim, values);
    for (std::size_t r = 0; r < n; ++r) add(weights[r][s + 1], values, odd[r]);
  }
  for (std::size_t r = 0; r < n; ++r) {
    const ValueRows<T> rows{head, queries[r]};
    for (std::size_t s = shared; s < rows.size(); s += 2) {
      load(rows[s] + j, values);
      add(weights[r][s], values, even[r]);
      if (s + 1 == rows.size()) break;
      load(rows[s + 1] + j, values);
      add(weights[r][s + 1], values, odd[r]);
    }
    for (std::size_t v = 0; v < vectors; ++v)
      hn::StoreU(hn::Add(even[r][v], odd[r][v]), d, queries[r].out + j + v * lanes);
  }
}

/// Whether there are 16 vector registers and not 32.
constexpr bool few_registers = HWY_ARCH_X86 && hn::MaxLanes(hn::ScalableTag<float>()) < 16;

template <std::size_t n, class T>
void SumValuesTogether(const Head<T>& head, const Query* queries, std::size_t shared, float* const* weights) {
  // Even and odd slots of every query: as many vectors of sums as there are registers for.
  const hn::ScalableTag<float> d;
  constexpr std::size_t vectors = n == 2 && !few_registers ? 4 : 2;
  const std::size_t lanes = hn::Lanes(d), step = vectors * lanes;
  std::size_t j = 0;
  for (; j + step <= head.dim; j += step) SumTogether<n, vectors>(d, head, queries, shared, weights, j);
  for (; j + lanes <= head.dim; j += lanes) SumTogether<n, 1>(d, head, queries, shared, weights, j);
  for (std::size_t r = 0; r < n; ++r) SumValues(ValueRows<T>{head, queries[r]}, weights[r], j);
}

template <std::size_t n, class T>
void AttendTogether(const Head<T>& head, std::span<const Query> queries, float* const* scores) {
  constexpr std::size_t groups = n > 2 ? 2 : 4, step = groups * key_group;
  std::size_t slots = 0, shared = queries[0].prefix;
  for (const Query& query : queries) {
    slots = std::max(slots, query.slots());
    shared = std::min(shared, query.prefix / 2 * 2);
  }
  std::size_t s = 0;
  for (; s + step <= slots; s += step) ScoreTogether<n, groups>(head, queries, s, scores);
  for (; s < slots; s += key_group) ScoreTogether<n, 1>(head, queries, s, scores);
  for (std::size_t r = 0; r < n; ++r) Weigh(queries[r], scores[r]);
  if constexpr (few_registers) {
    for (std::size_t r = 0; r + 2 <= n; r += 2) SumValuesTogether<2>(head, &queries[r], shared, scores + r);
    if constexpr (n % 2 == 1) SumValues(ValueRows<T>{head, queries[n - 1]}, scores[n - 1], 0);
  } else {
    SumValuesTogether<n>(head, queries.data(), shared, scores);
  }
}

#endif

template <class T>
void Attend(std::span<const Query> queries, const Head<T>& head, float* scratch, std::size_t apart) {
  float* const scores[most_queries] = {scratch, scratch + apart, scratch + 2 * apart, scratch + 3 * apart};
#if !HWY_HAVE_SCALABLE
  if (queries.size() == 4) return AttendTogether<4>(head, queries, scores);
  if (queries.size() == 3) return AttendTogether<3>(head, queries, scores);
  if (queries.size() == 2) return AttendTogether<2>(head, queries, scores);
#endif
  for (std::size_t r = 0; r < queries.size(); ++r) {
    Score(head, queries[r], scores[r]);
    Weigh(queries[r], scores[r]);
    SumValues(ValueRows<T>{head, queries[r]}, scores[r], 0);
  }
}

void AttendToFloats(std::span<const Query> queries, std::size_t head_dim, const float* keys,
                    const float* values, float scale, float* scratch, std::size_t apart) {
  Attend<float>(queries, {head_dim, keys, values, scale}, scratch, apart);
}

void AttendToHalves(std::span<const Query> queries, std::size_t head_dim, const Half* keys,
                    const Half* values, float scale, float* scratch, std::size_t apart) {
  Attend<Half>(queries, {head_dim, keys, values, scale}, scratch, apart);
}

}  // namespace HWY_NAMESPACE
}  // namespace spectr
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace spectr {

HWY_EXPORT(AttendToFloats);
HWY_EXPORT(AttendToHalves);

namespace {

/// Slots that the scores of a query have room for. Requires: what attend() says.
std::size_t slots_of(std::span<const Query> queries, std::span<const float> scratch) {
  SPECTR_CHECK(!queries.empty() && queries.size() <= most_queries);
  std::size_t slots = 0;
  for (const Query& query : queries) {
    const auto extra = query.extra;
    SPECTR_CHECK(query.prefix > 0 || !extra.empty());
    SPECTR_CHECK(extra.empty() || std::cmp_greater_equal(extra.front(), query.prefix));
    SPECTR_CHECK(std::ranges::adjacent_find(extra, std::greater_equal()) == extra.end());
    slots = std::max(slots, query.slots());
  }
  SPECTR_CHECK(scratch.size() >= attention_scratch(slots));
  return slots + key_group;
}

}  // namespace

void attend(std::span<const Query> queries, std::size_t head_dim, const float* keys, const float* values,
            float scale, std::span<float> scratch) {
  const std::size_t apart = slots_of(queries, scratch);
  HWY_DYNAMIC_DISPATCH(AttendToFloats)(queries, head_dim, keys, values, scale, scratch.data(), apart);
}

void attend(std::span<const Query> queries, std::size_t head_dim, const Half* keys, const Half* values,
            float scale, std::span<float> scratch) {
  const std::size_t apart = slots_of(queries, scratch);
  HWY_DYNAMIC_DISPATCH(AttendToHalves)(queries, head_dim, keys, values, scale, scratch.data(), apart);
}

}  // namespace spectr
#endif
