#include "spectr/backend/cpu/kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <variant>

#include "spectr/backend/cpu/kernels/attention_run.h"
#include "spectr/backend/cpu/kernels/vector_ops.h"
#include "spectr/base/check.h"
#include "spectr/base/numeric.h"

// Arrays of vectors need vectors of known size: NEON is used instead of ARM's scalable vectors.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "spectr/backend/cpu/kernels/attention.cc"
#include <hwy/foreach_target.h>
// These must follow foreach_target.h, which compiles this file once per instruction set.
#include "spectr/backend/cpu/kernels/attention_loops-inl.h"
#include "spectr/backend/cpu/kernels/latent_scores-inl.h"

// Names follow Highway's convention.
// NOLINTBEGIN(readability-identifier-naming,modernize-concat-nested-namespaces)
HWY_BEFORE_NAMESPACE();
namespace spectr {
namespace HWY_NAMESPACE {

/// Converts scores to weights: those of the prefix, then those of the listed slots, which are moved to their
/// positions. Positions before the query's first one and padding of the last group get weight zero, so that
/// all vectors are whole. Weights start at the query's own first block, independent of other queries.
void Weigh(const Query& query, ScoreRule rule, std::size_t base, float* scores) {
  constexpr float nothing = -std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < query.extra.size(); ++i) {
    const std::size_t position = query.prefix + i;
    if (position >= base) scores[position - base] = scores[static_cast<std::size_t>(query.extra[i]) - base];
  }
  float* const first = scores + (query.first_block() - base);
  float* const begin = scores + (query.begin - base);
  float* const end = scores + (query.positions() - base);
  const std::size_t whole = round_up(static_cast<std::size_t>(end - first), key_group);
  if (rule.cap > 0.0f) soft_cap({begin, end}, rule.cap);
  std::fill(scores, begin, nothing);
  std::fill(end, first + whole, nothing);
  if (query.sink == nothing) {
    softmax({first, whole});
  } else {
    const float* const best = std::max_element(begin, end);
    const float highest = *best;
    softmax({first, whole});
    // The largest weight is now 1 / Σ exp(score − highest).
    const float kept = 1.0f / (1.0f + std::exp(query.sink - highest) * *best);
    for (float* weight = begin; weight != end; ++weight) *weight *= kept;
  }
  std::fill(scores, first, 0.0f);
}

/// Computes the scores of all slots, block by block. All queries use a block while it is in the cache, and
/// the next one is prefetched meanwhile; after the last block, the values are.
template <class Keys>
void Score(const AttentionRun& run, const Keys& keys, Upcoming values) {
  float* scores[max_queries];
  const std::size_t count = run.queries.size();
  for (std::size_t r = 0; r < count; ++r) scores[r] = run.scratch + r * run.stride;
  for (std::size_t slot = run.base, end; slot < run.slots; slot = end) {
    end = AttentionRun::block_end(slot, run.slots);
    const Upcoming next = end < run.slots ? run.block_at(keys, end, run.slots) : values;
    Prefetcher ahead(next.at, run.ahead(next.bytes), KeySteps(keys, count, end - slot));
    ForSome<QueriesAt(Keys())>(0, count, [&](auto n, std::size_t r) HWY_ATTR {
      ScoreBlock<n>(keys, run.rule.scale, &run.queries[r], run.base, slot, end, scores + r, ahead);
    });
  }
}

/// Converts scores to weights, and computes the weighted sums of values: block by block for the slots that
/// all queries share, then separately for each query's rest.
template <class T>
void Add(const AttentionRun& run, const CachedValues<const T>& values, Upcoming next_head) {
  float* weights[max_queries];
  Sums sums[max_queries];
  const std::size_t count = run.queries.size(), dim = run.value_dim, base = run.base;
  for (std::size_t r = 0; r < count; ++r) {
    weights[r] = run.scratch + r * run.stride;
    sums[r] = {weights[r] + run.stride - 2 * dim, weights[r] + run.stride - dim};
    std::fill_n(sums[r].even, 2 * dim, 0.0f);
    Weigh(run.queries[r], run.rule, base, weights[r]);
  }
  for (std::size_t slot = base, end; slot < run.shared; slot = end) {
    end = AttentionRun::block_end(slot, run.shared);
    const Upcoming next = end < run.shared ? run.block_at(values, end, run.shared) : next_head;
    Prefetcher ahead(next.at, run.ahead(next.bytes), ValueSteps(count, end - slot, dim));
    const ValuesOfBlock<T> block{values, slot, slot - base};
    ForSome<queries_at_values>(0, count, [&](auto n, std::size_t r) HWY_ATTR {
      AddValues<n>(block, dim, slot - base, end - base, weights + r, sums + r, ahead);
    });
  }
  Prefetcher nothing(nullptr, 0, 1);
  for (std::size_t r = 0; r < count; ++r) {
    const Query& query = run.queries[r];
    AddValues<1>(ValuesOfQuery<T>{values, query, base}, dim, run.shared - base, query.positions() - base,
                 weights + r, sums + r, nothing);
    for (std::size_t j = 0; j < dim; ++j) query.out[j] = sums[r].even[j] + sums[r].odd[j];
  }
}

void ScoreF32(const AttentionRun& run, const CachedKeys<const float>& keys, Upcoming values) {
  Score(run, keys, values);
}
void ScoreF16(const AttentionRun& run, const CachedKeys<const F16>& keys, Upcoming values) {
  Score(run, keys, values);
}
void ScoreQ8(const AttentionRun& run, const CachedKeys<const Q8>& keys, Upcoming values) {
  Score(run, keys, values);
}

void ScoreLatentF32(const AttentionRun& run, const CachedValues<const float>& keys, Upcoming values) {
  Score(run, keys, values);
}
void ScoreLatentF16(const AttentionRun& run, const CachedValues<const F16>& keys, Upcoming values) {
  Score(run, keys, values);
}
void ScoreLatentQ8(const AttentionRun& run, const CachedValues<const Q8>& keys, Upcoming values) {
  Score(run, keys, values);
}

void AddF32(const AttentionRun& run, const CachedValues<const float>& values, Upcoming next_head) {
  Add(run, values, next_head);
}
void AddF16(const AttentionRun& run, const CachedValues<const F16>& values, Upcoming next_head) {
  Add(run, values, next_head);
}
void AddQ8(const AttentionRun& run, const CachedValues<const Q8>& values, Upcoming next_head) {
  Add(run, values, next_head);
}

}  // namespace HWY_NAMESPACE
}  // namespace spectr
HWY_AFTER_NAMESPACE();
// NOLINTEND(readability-identifier-naming,modernize-concat-nested-namespaces)

#if HWY_ONCE
namespace spectr {

HWY_EXPORT(ScoreF32);
HWY_EXPORT(ScoreF16);
HWY_EXPORT(ScoreQ8);
HWY_EXPORT(ScoreLatentF32);
HWY_EXPORT(ScoreLatentF16);
HWY_EXPORT(ScoreLatentQ8);
HWY_EXPORT(AddF32);
HWY_EXPORT(AddF16);
HWY_EXPORT(AddQ8);

namespace {

void score(const AttentionRun& run, const CachedKeys<const float>& keys, Upcoming values) {
  HWY_DYNAMIC_DISPATCH(ScoreF32)(run, keys, values);
}
void score(const AttentionRun& run, const CachedKeys<const F16>& keys, Upcoming values) {
  HWY_DYNAMIC_DISPATCH(ScoreF16)(run, keys, values);
}
void score(const AttentionRun& run, const CachedKeys<const Q8>& keys, Upcoming values) {
  HWY_DYNAMIC_DISPATCH(ScoreQ8)(run, keys, values);
}

void score(const AttentionRun& run, const CachedValues<const float>& keys, Upcoming values) {
  HWY_DYNAMIC_DISPATCH(ScoreLatentF32)(run, keys, values);
}
void score(const AttentionRun& run, const CachedValues<const F16>& keys, Upcoming values) {
  HWY_DYNAMIC_DISPATCH(ScoreLatentF16)(run, keys, values);
}
void score(const AttentionRun& run, const CachedValues<const Q8>& keys, Upcoming values) {
  HWY_DYNAMIC_DISPATCH(ScoreLatentQ8)(run, keys, values);
}

void add(const AttentionRun& run, const CachedValues<const float>& values, Upcoming next_head) {
  HWY_DYNAMIC_DISPATCH(AddF32)(run, values, next_head);
}
void add(const AttentionRun& run, const CachedValues<const F16>& values, Upcoming next_head) {
  HWY_DYNAMIC_DISPATCH(AddF16)(run, values, next_head);
}
void add(const AttentionRun& run, const CachedValues<const Q8>& values, Upcoming next_head) {
  HWY_DYNAMIC_DISPATCH(AddQ8)(run, values, next_head);
}

/// Requires: the preconditions of attend().
AttentionRun run_of(std::span<const Query> queries, std::size_t dim, std::size_t value_dim, ScoreRule rule,
                    std::span<float> scratch, ReadFrom from) {
  SPECTR_CHECK(!queries.empty() && queries.size() <= max_queries);
  AttentionRun run{.queries = queries,
                   .dim = dim,
                   .value_dim = value_dim,
                   .rule = rule,
                   .from_memory = from == ReadFrom::memory,
                   .scratch = scratch.data(),
                   .stride = 0,
                   .base = queries.front().first_block(),
                   .slots = 0,
                   .shared = queries.front().prefix};
  for (const Query& query : queries) {
    const auto extra = query.extra;
    SPECTR_CHECK(query.begin < query.positions());
    SPECTR_CHECK(extra.empty() || std::cmp_greater_equal(extra.front(), query.prefix));
    SPECTR_CHECK(std::ranges::adjacent_find(extra, std::greater_equal()) == extra.end());
    run.base = std::min(run.base, query.first_block());
    run.slots = std::max(run.slots, query.slots());
    run.shared = std::min(run.shared, query.prefix / 2 * 2);
  }
  run.shared = std::max(run.shared, run.base);
  const std::size_t needed = attention_scratch(run.slots - run.base, dim);
  SPECTR_CHECK(scratch.size() >= needed);
  run.stride = needed / max_queries;
  return run;
}

}  // namespace

void attend(std::span<const Query> queries, const AnyKeys& keys, const AnyValues& values, ScoreRule rule,
            std::span<float> scratch, ReadFrom from) {
  std::visit(
      [&]<class K, class V>(const CachedKeys<const K>& k, const CachedValues<const V>& v) {
        const AttentionRun run = run_of(queries, k.dim, v.dim, rule, scratch, from);
        Upcoming next_head = run.block_at(k, run.base, run.slots);
        next_head.at = k.block(run.base) + CachedHead<K, V>::block_bytes(run.dim);
        score(run, k, run.block_at(v, run.base, run.shared));
        add(run, v, next_head);
      },
      keys, values);
}

void attend(std::span<const Query> queries, const AnyValues& latent, std::size_t value_dim, ScoreRule rule,
            std::span<float> scratch, ReadFrom from) {
  std::visit(
      [&](const auto& both) {
        SPECTR_CHECK(value_dim <= both.dim);
        const AttentionRun run = run_of(queries, both.dim, value_dim, rule, scratch, from);
        score(run, both, run.block_at(both, run.base, run.shared));
        add(run, both, {nullptr, 0});
      },
      latent);
}

}  // namespace spectr
#endif
