#pragma once

// Plain-data descriptions of a pass's accesses to the KV cache, shared by host and kernels.

namespace spectr {

/// Slots per block of the KV cache, which is also the chunk size of attention.
inline constexpr int chunk_slots = 64;

/// The task of a work group, once per KV head: a chunk of one row or of several consecutive rows. Its
/// partial results follow those of the items before it, ordered by KV head, then row, then query
/// head.
struct alignas(16) AttentionItem {
  int row, rows;  ///< rows 0: padding, nothing to do
  int part;       ///< offset of its partial results: rows of the items before it
  int block;      ///< pool block, if the chunk is a whole block; −1: its slots are listed
  int list;       ///< index of its first slot in the list of slots, if block is −1
  int present;    ///< number of its slots, at most 64
  int settled;    ///< 1 if nothing in this pass writes to the block
  int unused = 0;
};

/// Locates the partial results of a row's chunks among those of all items.
struct alignas(16) AttentionRow {
  int chunks, shared;  ///< number of chunks; the first `shared` of them are shared by `rows` rows
  int part, rows;      ///< offset of the first shared chunk; the row is number `place` of its rows
  int place, own;      ///< offset of the first chunk that is not shared
  int unused[2] = {};

  /// Return the offset of a chunk's partial results, their number of rows, and the row's index among these.
  constexpr int part_of(int chunk) const {
    return chunk < shared ? part + chunk * rows : own + chunk - shared;
  }
  constexpr int rows_of(int chunk) const { return chunk < shared ? rows : 1; }
  constexpr int place_of(int chunk) const { return chunk < shared ? place : 0; }
};

/// A slot of the pool: 64 · block + slot in the block.
using PoolSlot = int;

/// A 4-byte word of each slot, copied when a slot is moved. For slot s of a block it is word base + s ·
/// stride of that block.
struct alignas(8) MoveLine {
  unsigned base, stride;
};

}  // namespace spectr
