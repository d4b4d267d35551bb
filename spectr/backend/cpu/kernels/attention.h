#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <variant>

#include "spectr/backend/cpu/kernels/cached_head.h"
#include "spectr/gguf/f16.h"

namespace spectr {

/// A query of one head. It attends to the first `prefix` slots and to the listed `extra` ones, which are
/// ascending and follow the prefix. In this order, they have positions 0, 1, …; positions before `begin` are
/// excluded.
struct Query {
  const float* q;  ///< [dim of the keys]
  std::size_t prefix;
  std::span<const int> extra;
  float* out;  ///< [dim of the values]
  std::size_t begin = 0;
  /// An additional score, of a slot with a zero value.
  float sink = -std::numeric_limits<float>::infinity();

  /// Return the end of the slots, and of the positions, that it attends to.
  std::size_t slots() const { return extra.empty() ? prefix : static_cast<std::size_t>(extra.back()) + 1; }
  std::size_t positions() const { return prefix + extra.size(); }
  /// Returns the start of the first block: scores are computed for whole blocks.
  std::size_t first_block() const { return begin / slot_block * slot_block; }
};

/// The score of a query and a key: scale · q·K, or cap · tanh(scale · q·K / cap) if cap > 0.
struct ScoreRule {
  float scale;
  float cap = 0.0f;  ///< 0: none
};

/// The expected location of keys and values. If it is memory, they are prefetched, followed by the block
/// after the head's first one: with several heads, that is the next head's.
enum class ReadFrom { memory, caches };

/// Maximum number of queries that attend together, sharing memory reads of keys and values.
constexpr std::size_t max_queries = 8;

/// Returns the floats of scratch that attend() needs, for heads with `dim` numbers and queries that span at
/// most `slots` slots, from the first block of one to the last slot of one.
constexpr std::size_t attention_scratch(std::size_t slots, std::size_t dim) {
  return max_queries * (slots + key_group + 2 * dim);
}

/// Keys and values of any supported type.
using AnyKeys = std::variant<CachedKeys<const float>, CachedKeys<const F16>, CachedKeys<const Q8>>;
using AnyValues = std::variant<CachedValues<const float>, CachedValues<const F16>, CachedValues<const Q8>>;

/// Computes attention of 1 to max_queries queries over the keys and values of one head: out = Σ_s
/// softmax_s(score of q and K[s], and the sink) V[s]. A query's result does not depend on other
/// queries, nor on whether slots are listed or on their places in a ring: sums run by position, bit
/// for bit. Sums are f32 for all KV types; scales multiply the sum over the quants that share them,
/// and the weights of values. If a score is NaN or +∞, or a value of such a slot is, the query's
/// result is NaN, which exposes broken models. scratch: see attention_scratch(). Requires: every query
/// attends to at least one slot; the cache has the blocks of all of them; keys and values belong to
/// one head.
///
/// Rounding changes out[j] to first order by at most 2⁻²⁴ (60 + n / 2 + 2 (d + 3) S) Σ_s softmax_s |V[s][j]|
/// for n ≤ 2¹⁸ slots, d = head.dim and S the largest scale · Σ_i |q[i] K[s][i]|, without a cap. For normally
/// distributed numbers most errors cancel: tests require at most 5e-6 of that sum.
void attend(std::span<const Query> queries, const AnyKeys& keys, const AnyValues& values, ScoreRule rule,
            std::span<float> scratch, ReadFrom from);

/// Computes attention if the first `value_dim` numbers of a key are its value; both are stored once, like
/// values. A score is the sum of 16 sums over dimensions with equal remainders, for any number of queries.
void attend(std::span<const Query> queries, const AnyValues& latent, std::size_t value_dim, ScoreRule rule,
            std::span<float> scratch, ReadFrom from);

template <class K, class V>
void attend(std::span<const Query> queries, const CachedHead<K, V>& head, ScoreRule rule,
            std::span<float> scratch, ReadFrom from) {
  attend(queries, AnyKeys(head.keys()), AnyValues(head.values()), rule, scratch, from);
}

}  // namespace spectr
