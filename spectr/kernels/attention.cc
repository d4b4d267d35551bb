#include "spectr/kernels/attention.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/kernels/vector_ops.h"

// Arrays of vectors need vectors of a known size: ARM's scalable ones are left to NEON.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
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
constexpr std::size_t vectors_of_group = key_group / hn::MaxLanes(GroupTag());

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

/// While dimension j of some groups' keys is used, starts to load as much of the same slots' values: memory
/// answers faster in several places at once, and rests while nothing but sums are made.
template <std::size_t groups, class T>
HWY_INLINE void FetchValues(const CachedHead<T>& head, std::size_t slot, std::size_t j) {
  constexpr std::size_t line = 64 / sizeof(T);
  if (j * key_group % line != 0) return;
  const T* at = head.value(slot) + j * key_group;
  for (std::size_t g = 0; g < groups; ++g, at += key_group * head.dim) __builtin_prefetch(at, 0, 2);
}

/// scores[r][…] = scale · q·K of n queries for the slots of some groups: every key is loaded once for all. A
/// lane is a slot and sums over the dimensions in their order.
template <std::size_t n, std::size_t groups, class T>
HWY_INLINE void ScoreGroups(const CachedHead<T>& head, float scale, const Query* queries, std::size_t slot,
                            float* const* scores) {
  const GroupTag d;
  using V = hn::Vec<GroupTag>;
  constexpr std::size_t lanes = key_group / vectors_of_group, vectors = groups * vectors_of_group;
  const std::size_t apart = key_group * head.dim;
  V sums[n][vectors];
  for (auto& row : sums) {
    for (V& sum : row) sum = hn::Zero(d);
  }
  const T* at = head.keys(slot);
  for (std::size_t j = 0; j < head.dim; ++j, at += key_group) {
    FetchValues<groups>(head, slot, j);
    V keys[vectors];
    for (std::size_t v = 0; v < vectors; ++v)
      keys[v] = LoadFloats(d, at + v / vectors_of_group * apart + v % vectors_of_group * lanes);
    for (std::size_t r = 0; r < n; ++r) {
      const V factor = hn::Set(d, queries[r].q[j]);
      for (std::size_t v = 0; v < vectors; ++v) sums[r][v] = hn::MulAdd(factor, keys[v], sums[r][v]);
    }
  }
  const V by = hn::Set(d, scale);
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t v = 0; v < vectors; ++v)
      hn::StoreU(hn::Mul(by, sums[r][v]), d, scores[r] + slot + v * lanes);
  }
}

/// The scores of n queries for the slots from `slot` up to `slots`, as many groups at once as have sums to
/// hide one another's latency. Single slots would cost more than whole groups.
template <std::size_t n, std::size_t groups, class T>
HWY_INLINE void Score(const CachedHead<T>& head, float scale, const Query* queries, std::size_t slot,
                      std::size_t slots, float* const* scores) {
  constexpr std::size_t step = groups * key_group;
  for (; slot + step <= slots; slot += step) ScoreGroups<n, groups>(head, scale, queries, slot, scores);
  if constexpr (groups > 1) {
    Score<n, groups / 2>(head, scale, queries, slot, slots, scores);
  } else if (slot < slots) {
    ScoreGroups<n, 1>(head, scale, queries, slot, scores);
  }
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
  const CachedHead<T>& head;
  const Query& query;

  std::size_t size() const { return query.prefix + query.extra.size(); }
  HWY_INLINE T* operator[](std::size_t s) const {
    const std::size_t slot = s < query.prefix ? s : static_cast<std::size_t>(query.extra[s - query.prefix]);
    return head.value(slot);
  }
};

/// out[j …] = Σ_s weights[s] values[s][j …] of n queries for some vectors, even and odd s apart: every value
/// among the first `shared`, an even number, is loaded once for all.
template <std::size_t n, std::size_t vectors, class D, class T>
HWY_INLINE void WeightedSum(D d, const CachedHead<T>& head, const Query* queries, std::size_t shared,
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
  for (std::size_t s = 0; s < shared;) {
    const T* at = head.value(s) + j;
    for (const std::size_t end = std::min(shared, s + slot_block); s < end; s += 2, at += 2 * head.dim) {
      load(at, values);
      for (std::size_t r = 0; r < n; ++r) add(weights[r][s], values, even[r]);
      load(at + head.dim, values);
      for (std::size_t r = 0; r < n; ++r) add(weights[r][s + 1], values, odd[r]);
    }
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

/// The weighted sums of n queries: as many vectors at once as there are registers for.
template <std::size_t n, class T>
HWY_INLINE void SumValues(const CachedHead<T>& head, const Query* queries, std::size_t shared,
                          float* const* weights) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> single;
  constexpr std::size_t most = n == 1 || (n == 2 && !few_registers) ? 4 : 2;
  constexpr std::size_t lanes = hn::MaxLanes(hn::ScalableTag<float>());
  std::size_t j = 0;
  for (; j + most * lanes <= head.dim; j += most * lanes)
    WeightedSum<n, most>(d, head, queries, shared, weights, j);
  const std::size_t left = (head.dim - j) / lanes;
  if constexpr (most > 3) {
    if (left == 3) WeightedSum<n, 3>(d, head, queries, shared, weights, j);
  }
  if (left == 2) WeightedSum<n, 2>(d, head, queries, shared, weights, j);
  if (left == 1) WeightedSum<n, 1>(d, head, queries, shared, weights, j);
  for (j += left * lanes; j < head.dim; ++j) WeightedSum<n, 1>(single, head, queries, shared, weights, j);
}

template <std::size_t n, class T>
void Attend(const CachedHead<T>& head, float scale, const Query* queries, float* const* scores) {
  constexpr std::size_t groups = std::clamp<std::size_t>(8 / (n * vectors_of_group), 1, 4);
  std::size_t slots = 0, shared = queries[0].prefix;
  for (std::size_t r = 0; r < n; ++r) {
    slots = std::max(slots, queries[r].slots());
    shared = std::min(shared, queries[r].prefix / 2 * 2);
  }
  Score<n, groups>(head, scale, queries, 0, slots, scores);
  for (std::size_t r = 0; r < n; ++r) Weigh(queries[r], scores[r]);
  if constexpr (few_registers && n > 2) {
    SumValues<2>(head, queries, shared, scores);
    SumValues<n - 2>(head, queries + 2, shared, scores + 2);
  } else {
    SumValues<n>(head, queries, shared, scores);
  }
}

template <class T>
void AttendTo(const CachedHead<T>& head, float scale, std::span<const Query> queries, float* scratch,
              std::size_t apart) {
  float* const scores[most_queries] = {scratch, scratch + apart, scratch + 2 * apart, scratch + 3 * apart};
  switch (queries.size()) {
    case 1:
      return Attend<1>(head, scale, queries.data(), scores);
    case 2:
      return Attend<2>(head, scale, queries.data(), scores);
    case 3:
      return Attend<3>(head, scale, queries.data(), scores);
    default:
      return Attend<most_queries>(head, scale, queries.data(), scores);
  }
}

void AttendToFloats(std::span<const Query> queries, const CachedHead<const float>& head, float scale,
                    float* scratch, std::size_t apart) {
  AttendTo(head, scale, queries, scratch, apart);
}

void AttendToHalves(std::span<const Query> queries, const CachedHead<const Half>& head, float scale,
                    float* scratch, std::size_t apart) {
  AttendTo(head, scale, queries, scratch, apart);
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

void attend(std::span<const Query> queries, const CachedHead<const float>& head, float scale,
            std::span<float> scratch) {
  const std::size_t apart = slots_of(queries, scratch);
  HWY_DYNAMIC_DISPATCH(AttendToFloats)(queries, head, scale, scratch.data(), apart);
}

void attend(std::span<const Query> queries, const CachedHead<const Half>& head, float scale,
            std::span<float> scratch) {
  const std::size_t apart = slots_of(queries, scratch);
  HWY_DYNAMIC_DISPATCH(AttendToHalves)(queries, head, scale, scratch.data(), apart);
}

}  // namespace spectr
#endif
