#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <variant>

#include "spectr/backend/cpu/kernels/cached_head.h"
#include "spectr/gguf/f16.h"

namespace spectr {

/// A query of one head attends to the first `prefix` slots and to the listed `extra` ones, which are
/// ascending and after the prefix. In this order these are its positions 0, 1, …; of them it attends to those
/// from `begin` on.
struct Query {
  const float* q;  ///< [dim of the keys]
  std::size_t prefix;
  std::span<const int> extra;
  float* out;  ///< [dim of the values]
  std::size_t begin = 0;
  /// One more score, of a slot whose value is nothing.
  float sink = -std::numeric_limits<float>::infinity();

  /// Behind the last slot, and the last position, that it attends to.
  std::size_t slots() const { return extra.empty() ? prefix : static_cast<std::size_t>(extra.back()) + 1; }
  std::size_t positions() const { return prefix + extra.size(); }
  /// Scores are computed from the beginning of a block on.
  std::size_t first_block() const { return begin / slot_block * slot_block; }
};

/// What a query and a key give: scale · q·K, or cap · tanh(scale · q·K / cap) where there is a cap.
struct ScoreRule {
  float scale;
  float cap = 0.0f;  ///< 0: none
};

/// Where keys and values are when they are wanted. What is in memory is prefetched, and at the end so is the
/// block behind the head's first one: where a cache has several heads, that is the next head's.
enum class ReadFrom { memory, caches };

/// So many queries can attend together: keys and values come from memory once for all of them.
constexpr std::size_t max_queries = 8;

/// How many floats of scratch attend() needs for scores and sums: for a head with `dim` numbers, and queries
/// that attend to no more than `slots` slots from the first block of one to the last slot of one.
constexpr std::size_t attention_scratch(std::size_t slots, std::size_t dim) {
  return max_queries * (slots + key_group + 2 * dim);
}

/// Keys and values as any of the types.
using AnyKeys = std::variant<CachedKeys<const float>, CachedKeys<const F16>, CachedKeys<const Q8>>;
using AnyValues = std::variant<CachedValues<const float>, CachedValues<const F16>, CachedValues<const Q8>>;

/// Attention of 1 to max_queries queries over the same keys and values of one head: out = Σ_s softmax_s(score
/// of q and K[s], and the sink) V[s]. What a query gives does not depend on the others, nor what a slot adds
/// on whether it is listed or where in a ring it lies: sums run by position, bit for bit. Sums are floats
/// whatever keys and values are kept as; a scale is multiplied with the sum of q and the quants that share
/// it, and with the weights of values. scratch: see attention_scratch(). Requires: every query attends to at
/// least one slot, and the cache has the blocks of all of them; keys and values are of one head. A score that
/// is NaN or +∞, or a value of such a slot that is, makes the query's sums NaN: a model that breaks down is
/// found out.
///
/// Rounding changes out[j] to first order by at most 2⁻²⁴ (60 + n / 2 + 2 (d + 3) S) Σ_s softmax_s |V[s][j]|
/// for n ≤ 2¹⁸ slots, d = head.dim and S the largest scale · Σ_i |q[i] K[s][i]|, without a cap. With normally
/// distributed numbers most errors cancel: tests hold attend() to 5e-6 of that sum.
void attend(std::span<const Query> queries, const AnyKeys& keys, const AnyValues& values, ScoreRule rule,
            std::span<float> scratch, ReadFrom from);

/// The same where a key's first `value_dim` numbers are its value, too: both are kept once, as values are. A
/// score is the sum of 16 sums, of the dimensions with the same remainder, whoever else attends.
void attend(std::span<const Query> queries, const AnyValues& latent, std::size_t value_dim, ScoreRule rule,
            std::span<float> scratch, ReadFrom from);

template <class K, class V>
void attend(std::span<const Query> queries, const CachedHead<K, V>& head, ScoreRule rule,
            std::span<float> scratch, ReadFrom from) {
  attend(queries, AnyKeys(head.keys()), AnyValues(head.values()), rule, scratch, from);
}

}  // namespace spectr
