// The inner loops of attention over a block of the cache, compiled once per instruction set: scores of keys,
// and weighted sums of values. Requires (see attention.cc): no target with vectors of unknown size.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "spectr/backend/cpu/kernels/attention.h"
#include "spectr/base/numeric.h"

// Highway's include guard, which permits one inclusion per target.
#if defined(SPECTR_ATTENTION_LOOPS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECTR_ATTENTION_LOOPS_INL
#undef SPECTR_ATTENTION_LOOPS_INL
#else
#define SPECTR_ATTENTION_LOOPS_INL
#endif

#include <hwy/highway.h>

// Names follow Highway's convention.
// NOLINTBEGIN(readability-identifier-naming,modernize-concat-nested-namespaces,misc-definitions-in-headers)
HWY_BEFORE_NAMESPACE();
namespace spectr {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A vector of neighbouring slots: a group, or as much of one as fits.
using GroupTag = hn::CappedTag<float, key_group>;
constexpr std::size_t vectors_of_group = key_group / hn::MaxLanes(GroupTag());

/// Loads a vector of floats from f32, F16 or unscaled Q8 numbers.
template <class D>
HWY_INLINE hn::Vec<D> LoadFloats(D d, const float* at) {
  return hn::LoadU(d, at);
}
template <class D>
HWY_INLINE hn::Vec<D> LoadFloats(D d, const F16* at) {
  const hn::Rebind<hwy::float16_t, D> f16s;
  const auto floats = hn::PromoteTo(d, hn::LoadU(f16s, reinterpret_cast<const hwy::float16_t*>(at)));
#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX2  // Highway's own conversion lacks infinities and NaNs
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

template <class D>
HWY_INLINE hn::Vec<D> LoadFloats(D d, const Q8* at) {
  const hn::Rebind<std::int8_t, D> bytes;
  const hn::RebindToSigned<D> ints;
  return hn::ConvertTo(d, hn::PromoteTo(ints, hn::LoadU(bytes, reinterpret_cast<const std::int8_t*>(at))));
}

/// Prefetches the memory that is used next, a few lines at a time during other work, so that memory is always
/// busy and never waited for while it keeps up.
class Prefetcher {
 public:
  /// Returns the number of dimensions of keys, or of slots of values, per step of n queries: small enough
  /// that few lines are prefetched at once.
  static constexpr std::size_t Stride(std::size_t n) { return n == 1 ? 8 : 16; }

  /// Distributes all of the memory over `steps` steps, at least one.
  HWY_INLINE Prefetcher(const void* at, std::size_t bytes, std::size_t steps)
      : at_(static_cast<const char*>(at)), left_(div_up(bytes, some)), step_(div_up(left_, steps)) {}

  HWY_INLINE void Step() {
    const std::size_t count = std::min(step_, left_);
    for (std::size_t i = 0; i < count; ++i, at_ += some) {
      for (std::size_t line = 0; line < some; line += 64) __builtin_prefetch(at_ + line, 0, 3);
    }
    left_ -= count;
  }

 private:
  static constexpr std::size_t some = 4 * 64;  // bytes prefetched together
  const char* at_;
  std::size_t left_, step_;  // total and per step, in units of `some`
};

/// True if there are 16 vector registers instead of 32.
constexpr bool few_registers = HWY_ARCH_X86 && hn::MaxLanes(hn::ScalableTag<float>()) < 16;

/// Number of queries that use the same keys, or values, at once; limited by the registers for their sums.
constexpr std::size_t queries_at_keys = 4, queries_at_values = few_registers ? 2 : 4;

template <class K>
constexpr std::size_t QueriesAt(const CachedKeys<K>&) {
  return queries_at_keys;
}

/// Returns the groups of keys processed at once with n queries: enough sums to hide latency.
constexpr std::size_t GroupsAtOnce(std::size_t n) {
  return std::clamp<std::size_t>(8 / (n * vectors_of_group), 1, 4);
}

/// Returns the vectors of a value processed at once with n queries.
constexpr std::size_t VectorsAtOnce(std::size_t n) {
  return n == 1 || (n == 2 && !few_registers) ? 4 : 2;
}

/// Returns the number of prefetch steps for the keys of some slots of a block.
template <class K>
HWY_INLINE std::size_t KeySteps(const CachedKeys<K>& keys, std::size_t queries, std::size_t slots) {
  const std::size_t at_once = key_group * GroupsAtOnce(std::min(queries, queries_at_keys));
  return div_up(queries, queries_at_keys) * div_up(slots, at_once) *
         div_up(keys.dim, Prefetcher::Stride(queries));
}

/// Returns the number of prefetch steps for the values of some slots of a block.
constexpr std::size_t ValueSteps(std::size_t queries, std::size_t slots, std::size_t dim) {
  const std::size_t at_once =
      hn::MaxLanes(hn::ScalableTag<float>()) * VectorsAtOnce(std::min(queries, queries_at_values));
  return div_up(queries, queries_at_values) * div_up(dim, at_once) *
         div_up(slots, Prefetcher::Stride(queries));
}

/// Calls use(n, first) for all queries in [first, end), at most `max` at a time; n is a constant.
template <std::size_t max, class Use>
HWY_INLINE void ForSome(std::size_t first, std::size_t end, const Use& use) {
  for (; first + max <= end; first += max) use(std::integral_constant<std::size_t, max>(), first);
  if constexpr (max > 1) ForSome<max - 1>(first, end, use);
}

/// Computes scores[r][slot − base …] = scale · q·K of n queries for some groups; every key is loaded once for
/// all. A lane has a slot and sums over the dimensions in order, separately for each scale.
template <std::size_t n, std::size_t groups, class K>
HWY_INLINE void ScoreGroups(const CachedKeys<const K>& keys, float scale, const Query* queries,
                            std::size_t base, std::size_t slot, float* const* scores, Prefetcher& ahead) {
  const GroupTag d;
  using V = hn::Vec<GroupTag>;
  constexpr std::size_t lanes = key_group / vectors_of_group, vectors = groups * vectors_of_group;
  const std::size_t dim = keys.dim, stride = slot_bytes<K>(key_group, dim) / sizeof(K);
  V sums[n][vectors], scaled[n][vectors];  // `scaled` is used only if there are scales
  const auto clear = [&](V(&all)[n][vectors]) HWY_ATTR {
    for (auto& row : all) {
      for (V& sum : row) sum = hn::Zero(d);
    }
  };
  clear(sums);
  clear(scaled);
  const K* const first = keys.group(slot);
  const K* at = first;
  for (std::size_t j = 0; j < dim;) {
    ahead.Step();
    for (const std::size_t end = std::min(j + Prefetcher::Stride(n), dim); j < end; ++j, at += key_group) {
      V factors[n];
      for (std::size_t r = 0; r < n; ++r) factors[r] = hn::Set(d, queries[r].q[j]);
      for (std::size_t v = 0; v < vectors; ++v) {
        const V key = LoadFloats(d, at + v / vectors_of_group * stride + v % vectors_of_group * lanes);
        for (std::size_t r = 0; r < n; ++r) sums[r][v] = hn::MulAdd(factors[r], key, sums[r][v]);
      }
    }
    if (has_scales<K> && (j % q8_dims == 0 || j == dim)) {
      for (std::size_t v = 0; v < vectors; ++v) {
        const float* const scales = scales_behind(first + v / vectors_of_group * stride, key_group, dim);
        const V by = hn::LoadU(d, scales + (j - 1) / q8_dims * key_group + v % vectors_of_group * lanes);
        for (std::size_t r = 0; r < n; ++r) scaled[r][v] = hn::MulAdd(sums[r][v], by, scaled[r][v]);
      }
      clear(sums);
    }
  }
  const V by = hn::Set(d, scale);
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t v = 0; v < vectors; ++v) {
      hn::StoreU(hn::Mul(by, has_scales<K> ? scaled[r][v] : sums[r][v]), d,
                 scores[r] + (slot - base) + v * lanes);
    }
  }
}

/// Computes the scores of n queries for the slots [slot, end) of a block, in whole groups, which cost less
/// than single slots.
template <std::size_t n, std::size_t groups = GroupsAtOnce(n), class K>
HWY_INLINE void ScoreBlock(const CachedKeys<const K>& keys, float scale, const Query* queries,
                           std::size_t base, std::size_t slot, std::size_t end, float* const* scores,
                           Prefetcher& ahead) {
  constexpr std::size_t step = groups * key_group;
  for (; slot + step <= end; slot += step)
    ScoreGroups<n, groups>(keys, scale, queries, base, slot, scores, ahead);
  if constexpr (groups > 1) {
    ScoreBlock<n, groups / 2>(keys, scale, queries, base, slot, end, scores, ahead);
  } else if (slot < end) {
    ScoreGroups<n, 1>(keys, scale, queries, base, slot, scores, ahead);
  }
}

/// Access to the values that belong to a query's weights, from position `base` on.
template <class T>
struct ValuesOfQuery {
  using Number = T;
  const CachedValues<const T>& cached;
  const Query& query;
  std::size_t base;

  HWY_INLINE std::size_t SlotOf(std::size_t s) const {
    s += base;
    return s < query.prefix ? s : static_cast<std::size_t>(query.extra[s - query.prefix]);
  }
  HWY_INLINE const T* operator[](std::size_t s) const { return cached.value(SlotOf(s)); }
  /// Copies the scales of dimension j in the values [s, s + count).
  HWY_INLINE void Scales(std::size_t s, std::size_t count, std::size_t j, float* out) const {
    for (std::size_t i = 0; i < count; ++i) out[i] = cached.scale(SlotOf(s + i), j);
  }
};

/// Access to the values of a block, whose first slot is `slot` and first value is `begin`.
template <class T>
struct ValuesOfBlock {
  using Number = T;
  const CachedValues<const T>& cached;
  std::size_t slot, begin;
  const T* first = cached.value(slot);

  HWY_INLINE const T* operator[](std::size_t s) const { return first + (s - begin) * cached.dim; }
  HWY_INLINE void Scales(std::size_t s, std::size_t count, std::size_t j, float* out) const {
    std::copy_n(&cached.scale(slot + (s - begin), j), count, out);
  }
};

/// The factors of the vectors of values from dimension j on: the weights of n queries, times the values'
/// scales, if any.
template <std::size_t n, std::size_t vectors, class D, bool scales>
class Factors {
 public:
  HWY_INLINE Factors(const float* const* weights, std::size_t) : weights_(weights) {}
  /// Prepares the values [begin, end), at most slot_block.
  template <class Values>
  HWY_INLINE void Prepare(const Values&, std::size_t, std::size_t) {}
  HWY_INLINE hn::Vec<D> operator()(std::size_t r, std::size_t, std::size_t s) const {
    return hn::Set(D(), weights_[r][s]);
  }

 private:
  const float* const* weights_;
};

template <std::size_t n, std::size_t vectors, class D>
class Factors<n, vectors, D, true> {
 public:
  HWY_INLINE Factors(const float* const* weights, std::size_t j) : weights_(weights), j_(j) {}
  template <class Values>
  HWY_INLINE void Prepare(const Values& values, std::size_t begin, std::size_t end) {
    const hn::ScalableTag<float> d;
    begin_ = begin;
    HWY_ALIGN float scales[slot_block];
    for (std::size_t b = 0; b < blocks; ++b) {
      const std::size_t j = j_ / q8_dims * q8_dims + b * q8_dims;
      if (j >= j_ + vectors * hn::MaxLanes(D())) break;
      values.Scales(begin, end - begin, j, scales);
      for (std::size_t r = 0; r < n; ++r) {
        for (std::size_t i = 0; i < end - begin; i += hn::MaxLanes(d)) {
          const auto weights = hn::LoadU(d, weights_[r] + begin + i);  // scratch extends past the end
          hn::StoreU(hn::Mul(weights, hn::Load(d, scales + i)), d, scaled_[b][r] + i);
        }
      }
    }
  }
  HWY_INLINE hn::Vec<D> operator()(std::size_t r, std::size_t v, std::size_t s) const {
    const std::size_t block = (j_ % q8_dims + v * hn::MaxLanes(D())) / q8_dims;
    return hn::Set(D(), scaled_[block][r][s - begin_]);
  }

 private:
  static constexpr std::size_t blocks = div_up(vectors * hn::MaxLanes(D()), q8_dims) + 1;
  const float* const* weights_;
  std::size_t j_, begin_ = 0;
  HWY_ALIGN float scaled_[blocks][n][slot_block];
};

/// Running sums of a query's weights[s] values[s], [dim] each, separately for even and odd s.
struct Sums {
  float* even;
  float* odd;
};

/// Adds the terms [begin, end) to the sums of n queries, for some vectors at dimension j; every value is
/// loaded once for all. Requires: begin is even.
template <std::size_t n, std::size_t vectors, class D, class Values>
HWY_INLINE void AddVectors(D d, const Values& values, std::size_t begin, std::size_t end,
                           float* const* weights, const Sums* sums, std::size_t j, Prefetcher& ahead) {
  using V = hn::Vec<D>;
  const std::size_t lanes = hn::Lanes(d);
  V even[n][vectors], odd[n][vectors];
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t v = 0; v < vectors; ++v) {
      even[r][v] = hn::LoadU(d, sums[r].even + j + v * lanes);
      odd[r][v] = hn::LoadU(d, sums[r].odd + j + v * lanes);
    }
  }
  Factors<n, vectors, D, has_scales<typename Values::Number>> factors(weights, j);
  const auto add = [&](std::size_t s, V(&to)[n][vectors]) HWY_ATTR {
    V value[vectors];
    for (std::size_t v = 0; v < vectors; ++v) value[v] = LoadFloats(d, values[s] + j + v * lanes);
    for (std::size_t r = 0; r < n; ++r) {
      for (std::size_t v = 0; v < vectors; ++v) to[r][v] = hn::MulAdd(factors(r, v, s), value[v], to[r][v]);
    }
  };
  for (std::size_t s = begin; s < end;) {
    const std::size_t block_end = std::min(s + slot_block, end);
    factors.Prepare(values, s, block_end);
    while (s + 2 <= block_end) {
      ahead.Step();
      for (const std::size_t some = std::min(s + Prefetcher::Stride(n), block_end); s + 2 <= some; s += 2) {
        add(s, even);
        add(s + 1, odd);
      }
    }
    if (s < block_end) add(s++, even);
  }
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t v = 0; v < vectors; ++v) {
      hn::StoreU(even[r][v], d, sums[r].even + j + v * lanes);
      hn::StoreU(odd[r][v], d, sums[r].odd + j + v * lanes);
    }
  }
}

/// Calls AddVectors() for the first `dim` numbers of values.
template <std::size_t n, class Values>
HWY_INLINE void AddValues(const Values& values, std::size_t dim, std::size_t begin, std::size_t end,
                          float* const* weights, const Sums* sums, Prefetcher& ahead) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> single;
  constexpr std::size_t max = VectorsAtOnce(n), lanes = hn::MaxLanes(hn::ScalableTag<float>());
  std::size_t j = 0;
  for (; j + max * lanes <= dim; j += max * lanes)
    AddVectors<n, max>(d, values, begin, end, weights, sums, j, ahead);
  const std::size_t left = (dim - j) / lanes;
  if constexpr (max > 3) {
    if (left == 3) AddVectors<n, 3>(d, values, begin, end, weights, sums, j, ahead);
  }
  if (left == 2) AddVectors<n, 2>(d, values, begin, end, weights, sums, j, ahead);
  if (left == 1) AddVectors<n, 1>(d, values, begin, end, weights, sums, j, ahead);
  for (j += left * lanes; j < dim; ++j) AddVectors<n, 1>(single, values, begin, end, weights, sums, j, ahead);
}

}  // namespace HWY_NAMESPACE
}  // namespace spectr
HWY_AFTER_NAMESPACE();
// NOLINTEND(readability-identifier-naming,modernize-concat-nested-namespaces,misc-definitions-in-headers)

#endif  // SPECTR_ATTENTION_LOOPS_INL
