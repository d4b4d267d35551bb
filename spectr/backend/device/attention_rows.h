#pragma once

// What a pass does with the cache, as plain data for host and kernels.

namespace spectr {

/// Slots of a block of the cache, and of a chunk: what attention sums at a time.
inline constexpr int chunk_slots = 64;

/// What a group of threads does for each head of keys: a chunk of one row or of several that follow one
/// another. What it gives lies behind that of the items before it: of a head of keys the rows' queries, row
/// by row, then of the next head.
struct alignas(16) AttentionItem {
  int row, rows;  ///< no rows: nothing to do
  int part;       ///< rows of the items before it
  int block;      ///< of the pool, if the chunk is a whole one; otherwise −1, and
  int list;       ///< where its slots begin among the listed ones, and
  int present;    ///< how many they are, at most 64
  int settled;    ///< whether nothing in this pass writes to the block
  int unused = 0;
};

/// Where the chunks of a row lie among those of all items.
struct alignas(16) AttentionRow {
  int chunks, shared;  ///< all of them, and those that come first and are shared with `rows` rows
  int part, rows;      ///< of the first shared one; its row is the `place`-th of those
  int place, own;      ///< of the first one that is not shared
  int unused[2] = {};

  /// Where the chunk's part of the pass begins, in rows, and how many rows it has.
  constexpr int part_of(int chunk) const {
    return chunk < shared ? part + chunk * rows : own + chunk - shared;
  }
  constexpr int rows_of(int chunk) const { return chunk < shared ? rows : 1; }
  constexpr int place_of(int chunk) const { return chunk < shared ? place : 0; }
};

/// Where a row's key and value go, and a listed slot: 64 · block of the pool + slot of the block.
using PoolSlot = int;

/// A word of each slot of a block, which moves with it: that of slot s is word base + s · stride of the
/// block.
struct alignas(8) MoveLine {
  unsigned base, stride;
};

}  // namespace spectr
