#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "spectr/backend/cpu/kernels/attention.h"

namespace spectr {

/// Memory that is wanted next.
struct Upcoming {
  const void* at;
  std::size_t bytes;
};

/// Queries that attend together, and where their scores and sums lie. They go over the cache block by block,
/// from the first block of one of them on: `base` is the position where it begins, and that of the first
/// score.
struct AttentionRun {
  std::span<const Query> queries;
  std::size_t dim, value_dim;  ///< of keys, and of values
  ScoreRule rule;
  bool from_memory;
  float* scratch;
  std::size_t apart;        ///< floats of scratch from one query to the next
  std::size_t base, slots;  ///< what they see lies in [base, slots)
  std::size_t shared;       ///< up to here slots are positions of all of them, an even number from base on

  static std::size_t block_end(std::size_t slot, std::size_t end) { return std::min(slot + slot_block, end); }
  /// The block that begins at a slot, and its bytes.
  template <class T>
  static Upcoming block_at(const CachedBlocks<T>& cached, std::size_t slot, std::size_t end) {
    return {cached.block(slot), slot_bytes<T>(block_end(slot, end) - slot, cached.dim)};
  }
  /// Bytes that are prefetched.
  std::size_t ahead(std::size_t bytes) const { return from_memory ? bytes : 0; }
};

}  // namespace spectr
