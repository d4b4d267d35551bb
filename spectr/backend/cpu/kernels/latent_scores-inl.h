// Scores of keys stored in the layout of values, slot by slot: a vector has neighbouring dimensions of a key.
// Compiled once per instruction set, after attention_loops-inl.h.
#include <algorithm>
#include <cstddef>

#include "spectr/backend/cpu/kernels/attention_loops-inl.h"

// Highway's include guard, which permits one inclusion per target.
#if defined(SPECTR_LATENT_SCORES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECTR_LATENT_SCORES_INL
#undef SPECTR_LATENT_SCORES_INL
#else
#define SPECTR_LATENT_SCORES_INL
#endif

// Names follow Highway's convention.
// NOLINTBEGIN(readability-identifier-naming,modernize-concat-nested-namespaces,misc-definitions-in-headers)
HWY_BEFORE_NAMESPACE();
namespace spectr {
namespace HWY_NAMESPACE {

/// Number of running sums of a score, for neighbouring dimensions, in one or more vectors.
constexpr std::size_t sums_of_score = key_group;
static_assert(q8_dims % sums_of_score == 0, "dimensions of a step share a scale");

/// Queries that use the same keys at once. All heads share the keys, so there are many queries.
constexpr std::size_t queries_at_latent = hn::MaxLanes(GroupTag()) == sums_of_score ? 8 : 4;

template <class K>
constexpr std::size_t QueriesAt(const CachedValues<K>&) {
  return queries_at_latent;
}

/// Returns the keys processed at once with n queries: enough sums to hide latency.
constexpr std::size_t LatentKeysAtOnce(std::size_t n) {
  return std::clamp<std::size_t>((few_registers ? 8 : 16) / (n * vectors_of_group), 1, 4);
}

/// Dimensions per prefetch step.
constexpr std::size_t latent_stride = 8 * sums_of_score;

template <class K>
HWY_INLINE std::size_t KeySteps(const CachedValues<K>& keys, std::size_t queries, std::size_t slots) {
  const std::size_t at_once = LatentKeysAtOnce(std::min(queries, queries_at_latent));
  return div_up(queries, queries_at_latent) * div_up(slots, at_once) * div_up(keys.dim, latent_stride);
}

/// Returns the sum of a vector's lanes, by adding halves repeatedly.
template <class D>
HWY_INLINE float AllLanes(D d, hn::Vec<D> v) {
#if HWY_TARGET == HWY_SCALAR
  (void)d;
#else
  if constexpr (hn::MaxLanes(d) > 4) {
    const hn::Half<D> half;
    return AllLanes(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  } else {
    v = hn::Add(v, hn::Shuffle1032(v));
    v = hn::Add(v, hn::Shuffle2301(v));
  }
#endif
  return hn::GetLane(v);
}

/// Returns the sum of sums_of_score numbers, in the same order on all instruction sets.
HWY_INLINE float SumOf(hn::Vec<GroupTag> (&sums)[vectors_of_group]) {
  for (std::size_t half = vectors_of_group / 2; half > 0; half /= 2) {
    for (std::size_t v = 0; v < half; ++v) sums[v] = hn::Add(sums[v], sums[v + half]);
  }
  return AllLanes(GroupTag(), sums[0]);
}

/// Computes scores[r][slot − base …] = scale · q·K of n queries for some keys; each key is loaded once.
template <std::size_t n, std::size_t keys_at_once, class K>
HWY_INLINE void ScoreLatentKeys(const CachedValues<const K>& keys, float scale, const Query* queries,
                                std::size_t base, std::size_t slot, float* const* scores, Prefetcher& ahead) {
  const GroupTag d;
  using V = hn::Vec<GroupTag>;
  constexpr std::size_t lanes = sums_of_score / vectors_of_group;
  const std::size_t dim = keys.dim;
  V sums[n][keys_at_once][vectors_of_group];
  for (auto& query : sums) {
    for (auto& key : query) {
      for (V& sum : key) sum = hn::Zero(d);
    }
  }
  // Adds the products of the dimensions from j on, which are at q and k.
  const auto add = [&](std::size_t j, const float* const* q, const K* const* k) HWY_ATTR {
    for (std::size_t i = 0; i < keys_at_once; ++i) {
      for (std::size_t v = 0; v < vectors_of_group; ++v) {
        V key = LoadFloats(d, k[i] + v * lanes);
        if constexpr (has_scales<K>) key = hn::Mul(key, hn::Set(d, keys.scale(slot + i, j)));
        for (std::size_t r = 0; r < n; ++r)
          sums[r][i][v] = hn::MulAdd(hn::LoadU(d, q[r] + v * lanes), key, sums[r][i][v]);
      }
    }
  };
  const float* q[n];
  const K* k[keys_at_once];
  const auto at = [&](std::size_t j) HWY_ATTR {
    for (std::size_t r = 0; r < n; ++r) q[r] = queries[r].q + j;
    for (std::size_t i = 0; i < keys_at_once; ++i) k[i] = keys.value(slot + i) + j;
  };
  const std::size_t whole = dim / sums_of_score * sums_of_score;
  for (std::size_t j = 0; j < whole; j += sums_of_score) {
    if (j % latent_stride == 0) ahead.Step();
    at(j);
    add(j, q, k);
  }
  if (whole < dim) {
    float last_of_query[n][sums_of_score] = {};
    K last_of_key[keys_at_once][sums_of_score] = {};
    at(whole);
    for (std::size_t r = 0; r < n; ++r) {
      std::copy_n(q[r], dim - whole, last_of_query[r]);
      q[r] = last_of_query[r];
    }
    for (std::size_t i = 0; i < keys_at_once; ++i) {
      std::copy_n(k[i], dim - whole, last_of_key[i]);
      k[i] = last_of_key[i];
    }
    add(whole, q, k);
  }
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t i = 0; i < keys_at_once; ++i) scores[r][slot + i - base] = scale * SumOf(sums[r][i]);
  }
}

template <std::size_t n, std::size_t keys_at_once = LatentKeysAtOnce(n), class K>
HWY_INLINE void ScoreBlock(const CachedValues<const K>& keys, float scale, const Query* queries,
                           std::size_t base, std::size_t slot, std::size_t end, float* const* scores,
                           Prefetcher& ahead) {
  for (; slot + keys_at_once <= end; slot += keys_at_once)
    ScoreLatentKeys<n, keys_at_once>(keys, scale, queries, base, slot, scores, ahead);
  if constexpr (keys_at_once > 1) ScoreBlock<n, 1>(keys, scale, queries, base, slot, end, scores, ahead);
}

}  // namespace HWY_NAMESPACE
}  // namespace spectr
HWY_AFTER_NAMESPACE();
// NOLINTEND(readability-identifier-naming,modernize-concat-nested-namespaces,misc-definitions-in-headers)

#endif  // SPECTR_LATENT_SCORES_INL
