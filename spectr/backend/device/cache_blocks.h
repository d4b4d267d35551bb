#pragma once

#include <memory>
#include <span>
#include <vector>

#include "spectr/backend/device/attention_rows.h"
#include "spectr/backend/device/calls.h"
#include "spectr/backend/device/slot_moves.h"
#include "spectr/nn/pass_batch.h"

namespace spectr {

/// The KV cache of all sequences: a pool on the device of blocks of 64 slots, each for all layers, and a
/// block table per cache. A cache takes blocks as its sequence grows and returns them when it is closed. The
/// contents of slots are managed by KvSlots.
class CacheBlocks {
 public:
  /// The device must outlive it. Throws std::bad_alloc.
  CacheBlocks(const ModelSpec& spec, const KvTypes& kv, Device& device);

  CacheId open(const CacheSize& size);
  /// Closes a cache and drops pending moves within it.
  void close(CacheId cache);
  /// Returns the bytes that a sequence of this size takes.
  std::size_t bytes(const CacheSize& size) const;

  /// Allocates blocks of the cache up to the one of `slot`. Throws std::bad_alloc.
  void grow(CacheId cache, std::int32_t slot);
  /// Returns how often the pool was reallocated.
  std::size_t times_moved() const { return times_moved_; }
  std::span<const int> table(CacheId cache) const { return caches_[cache].table; }
  /// Returns the context size of the cache's sequence, in tokens.
  std::size_t context(CacheId cache) const { return caches_[cache].context; }

  /// See Ops::copy_cache. Executes pending moves first. Throws std::bad_alloc.
  void copy(const CacheCopy& copy);

  /// Adds a move to those pending for the next successful pass.
  void add(const SlotMove& move);
  /// Returns all pending moves as pairs (from, to), in order.
  const std::vector<PoolSlot>& moves() const { return moves_.all(); }
  void forget_moves() { moves_.forget(); }

  /// Returns the location of a layer's keys and values. Requires: the layer stores some.
  call::Cache of(std::size_t layer) const;
  /// Returns a move call without its list of moves.
  call::Move move() const;
  /// Returns the first error of the device.
  const Result<void>& state() const { return state_; }

 private:
  struct Cache {
    bool is_open;
    std::size_t context;
    std::vector<int> table;
  };
  PoolSlot slot_in_pool(CacheId cache, std::int32_t slot) const;
  void add_blocks();
  bool extend_pool(std::size_t more);
  std::size_t replace_pool(std::size_t more);
  void note(const Result<void>& done) {
    if (state_ && !done) state_ = done;
  }

  Device& device_;
  std::vector<call::Cache> layers_;
  std::size_t block_bytes_ = 0, line_count_ = 0;
  std::unique_ptr<DeviceMemory> lines_, pool_;
  std::vector<int> free_;  // free block ids
  std::size_t blocks_ = 0, times_moved_ = 0;
  std::size_t useless_room_ = 0;  // free memory, in blocks, at the latest growth that got none of it
  std::vector<Cache> caches_;
  SlotMoves moves_;
  Result<void> state_;
};

}  // namespace spectr
