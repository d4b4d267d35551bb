#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "spectr/backend/cpu/kernels/attention.h"

namespace spectr {

/// The next memory to be used.
struct Upcoming {
  const void* at;
  std::size_t bytes;
};

/// Queries that attend together, and their scratch. They iterate over the cache block by block, starting at
/// the first block of one of them; `base` is the position where it begins, which is also that of the first
/// score.
struct AttentionRun {
  std::span<const Query> queries;
  std::size_t dim, value_dim;  ///< sizes of keys and of values
  ScoreRule rule;
  bool from_memory;
  float* scratch;
  std::size_t stride;       ///< stride between queries, in floats of scratch
  std::size_t base, slots;  ///< all queries attend within [base, slots)
  std::size_t shared;       ///< up to here, slots are positions of all queries; an even distance from base

  static std::size_t block_end(std::size_t slot, std::size_t end) { return std::min(slot + slot_block, end); }
  /// Returns the block that begins at a slot, and its size.
  template <class T>
  static Upcoming block_at(const CachedBlocks<T>& cached, std::size_t slot, std::size_t end) {
    return {cached.block(slot), slot_bytes<T>(block_end(slot, end) - slot, cached.dim)};
  }
  /// Returns the number of bytes to prefetch.
  std::size_t ahead(std::size_t bytes) const { return from_memory ? bytes : 0; }
};

}  // namespace spectr
