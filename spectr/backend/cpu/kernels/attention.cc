#include "spectr/backend/cpu/kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "spectr/backend/cpu/kernels/vector_ops.h"
#include "spectr/base/check.h"
#include "spectr/base/numeric.h"

// Arrays of vectors need vectors of a known size: ARM's scalable ones are left to NEON.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "spectr/backend/cpu/kernels/attention.cc"
#include <hwy/foreach_target.h>
// One copy per instruction set comes first.
#include "spectr/backend/cpu/kernels/attention_loops-inl.h"

// Named as Highway names its operations.
// NOLINTBEGIN(readability-identifier-naming,modernize-concat-nested-namespaces)
HWY_BEFORE_NAMESPACE();
namespace spectr {
namespace HWY_NAMESPACE {

/// Weights from scores: those of the prefix, then those of the listed slots, which move up to their
/// positions. What lies before the query's first position and what fills the last group weighs nothing, so
/// that there are whole vectors only; they begin with the query's own first block, whatever others have.
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

/// Attention block by block: each is used for all queries while it is near, and what comes after it is
/// prefetched meanwhile. Scores and weights lie from position `base` on, where the first block begins.
template <class Head>
void AttendTo(std::span<const Query> queries, const Head& head, ScoreRule rule, ReadFrom from, float* scratch,
              std::size_t apart) {
  const std::size_t count = queries.size(), dim = head.dim;
  float* scores[max_queries];
  Sums sums[max_queries];
  std::size_t slots = 0, shared = queries[0].prefix, base = queries[0].first_block();
  for (std::size_t r = 0; r < count; ++r) {
    scores[r] = scratch + r * apart;
    sums[r] = {scores[r] + apart - 2 * dim, scores[r] + apart - dim};
    std::fill_n(sums[r].even, 2 * dim, 0.0f);
    slots = std::max(slots, queries[r].slots());
    shared = std::min(shared, queries[r].prefix / 2 * 2);
    base = std::min(base, queries[r].first_block());
  }
  shared = std::max(shared, base);
  const auto block_end = [](std::size_t slot, std::size_t end) { return std::min(slot + slot_block, end); };
  const auto prefetcher = [&](const auto* at, std::size_t of_slots, std::size_t steps) {
    return Prefetcher(at, from == ReadFrom::memory ? of_slots * dim * sizeof *at : 0, steps);
  };
  const auto* const next_head = head.keys(base) + Head::block_bytes(dim) / sizeof(typename Head::Key);

  for (std::size_t slot = base, end; slot < slots; slot = end) {
    end = block_end(slot, slots);
    const std::size_t steps = KeySteps(count, end - slot, dim);
    Prefetcher ahead = end < slots ? prefetcher(head.keys(end), block_end(end, slots) - end, steps)
                                   : prefetcher(head.value(base), block_end(base, shared) - base, steps);
    ForSome<queries_at_keys>(0, count, [&](auto n, std::size_t r) HWY_ATTR {
      ScoreBlock<n, GroupsAtOnce(n)>(head, rule.scale, &queries[r], base, slot, end, scores + r, ahead);
    });
  }
  for (std::size_t r = 0; r < count; ++r) Weigh(queries[r], rule, base, scores[r]);

  for (std::size_t slot = base, end; slot < shared; slot = end) {
    end = block_end(slot, shared);
    const std::size_t steps = ValueSteps(count, end - slot, dim);
    Prefetcher ahead = end < shared ? prefetcher(head.value(end), block_end(end, shared) - end, steps)
                                    : prefetcher(next_head, block_end(base, slots) - base, steps);
    const ValuesOfBlock<typename Head::Value> values{head.value(slot), slot - base, dim};
    ForSome<queries_at_values>(0, count, [&](auto n, std::size_t r) HWY_ATTR {
      AddValues<n>(values, dim, slot - base, end - base, scores + r, sums + r, ahead);
    });
  }
  Prefetcher nothing(nullptr, 0, 1);
  for (std::size_t r = 0; r < count; ++r) {
    const Query& query = queries[r];
    AddValues<1>(ValuesOfQuery<Head>{head, query, base}, dim, shared - base, query.positions() - base,
                 scores + r, sums + r, nothing);
    for (std::size_t j = 0; j < dim; ++j) query.out[j] = sums[r].even[j] + sums[r].odd[j];
  }
}

void AttendToF32(std::span<const Query> queries, const CachedHead<const float, const float>& head,
                 ScoreRule rule, ReadFrom from, float* scratch, std::size_t apart) {
  AttendTo(queries, head, rule, from, scratch, apart);
}

void AttendToF16(std::span<const Query> queries, const CachedHead<const F16, const F16>& head, ScoreRule rule,
                 ReadFrom from, float* scratch, std::size_t apart) {
  AttendTo(queries, head, rule, from, scratch, apart);
}

void AttendToF32AndF16(std::span<const Query> queries, const CachedHead<const float, const F16>& head,
                       ScoreRule rule, ReadFrom from, float* scratch, std::size_t apart) {
  AttendTo(queries, head, rule, from, scratch, apart);
}

void AttendToF16AndF32(std::span<const Query> queries, const CachedHead<const F16, const float>& head,
                       ScoreRule rule, ReadFrom from, float* scratch, std::size_t apart) {
  AttendTo(queries, head, rule, from, scratch, apart);
}

}  // namespace HWY_NAMESPACE
}  // namespace spectr
HWY_AFTER_NAMESPACE();
// NOLINTEND(readability-identifier-naming,modernize-concat-nested-namespaces)

#if HWY_ONCE
namespace spectr {

HWY_EXPORT(AttendToF32);
HWY_EXPORT(AttendToF16);
HWY_EXPORT(AttendToF32AndF16);
HWY_EXPORT(AttendToF16AndF32);

namespace {

/// Floats of scratch that each query has. Requires: what attend() says.
std::size_t scratch_of_query(std::span<const Query> queries, std::size_t dim,
                             std::span<const float> scratch) {
  SPECTR_CHECK(!queries.empty() && queries.size() <= max_queries);
  std::size_t slots = 0, first = queries.front().first_block();
  for (const Query& query : queries) {
    const auto extra = query.extra;
    SPECTR_CHECK(query.begin < query.positions());
    SPECTR_CHECK(extra.empty() || std::cmp_greater_equal(extra.front(), query.prefix));
    SPECTR_CHECK(std::ranges::adjacent_find(extra, std::greater_equal()) == extra.end());
    slots = std::max(slots, query.slots());
    first = std::min(first, query.first_block());
  }
  SPECTR_CHECK(scratch.size() >= attention_scratch(slots - first, dim));
  return attention_scratch(slots - first, dim) / max_queries;
}

}  // namespace

void attend(std::span<const Query> queries, const CachedHead<const float, const float>& head, ScoreRule rule,
            std::span<float> scratch, ReadFrom from) {
  const std::size_t apart = scratch_of_query(queries, head.dim, scratch);
  HWY_DYNAMIC_DISPATCH(AttendToF32)(queries, head, rule, from, scratch.data(), apart);
}

void attend(std::span<const Query> queries, const CachedHead<const F16, const F16>& head, ScoreRule rule,
            std::span<float> scratch, ReadFrom from) {
  const std::size_t apart = scratch_of_query(queries, head.dim, scratch);
  HWY_DYNAMIC_DISPATCH(AttendToF16)(queries, head, rule, from, scratch.data(), apart);
}

void attend(std::span<const Query> queries, const CachedHead<const float, const F16>& head, ScoreRule rule,
            std::span<float> scratch, ReadFrom from) {
  const std::size_t apart = scratch_of_query(queries, head.dim, scratch);
  HWY_DYNAMIC_DISPATCH(AttendToF32AndF16)(queries, head, rule, from, scratch.data(), apart);
}

void attend(std::span<const Query> queries, const CachedHead<const F16, const float>& head, ScoreRule rule,
            std::span<float> scratch, ReadFrom from) {
  const std::size_t apart = scratch_of_query(queries, head.dim, scratch);
  HWY_DYNAMIC_DISPATCH(AttendToF16AndF32)(queries, head, rule, from, scratch.data(), apart);
}

}  // namespace spectr
#endif
