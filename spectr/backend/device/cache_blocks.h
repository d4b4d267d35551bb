#pragma once

#include <memory>
#include <span>
#include <vector>

#include "spectr/backend/device/attention_rows.h"
#include "spectr/backend/device/calls.h"
#include "spectr/backend/device/slot_moves.h"
#include "spectr/nn/pass_batch.h"

namespace spectr {

/// Keys and values of all sequences: a pool of blocks of 64 slots on the device, each of all layers, and for
/// every cache the table of the blocks that it has. A cache takes blocks as its sequence grows; they go back
/// when it is closed. What slots hold is KvSlots' business.
class CacheBlocks {
 public:
  /// The device must outlive it. Throws std::bad_alloc.
  CacheBlocks(const ModelSpec& spec, const KvTypes& kv, Device& device);

  CacheId open(const CacheSize& size);
  /// Forgets the moves in it, too.
  void close(CacheId cache);
  /// Of such a sequence.
  std::size_t bytes(const CacheSize& size) const;

  /// Lets the cache have blocks up to a slot. Throws std::bad_alloc.
  void grow(CacheId cache, std::int32_t slot);
  /// How often the pool has come to lie elsewhere.
  std::size_t times_moved() const { return times_moved_; }
  std::span<const int> table(CacheId cache) const { return caches_[cache].table; }
  /// Tokens that the cache's sequence may have.
  std::size_t context(CacheId cache) const { return caches_[cache].context; }

  /// See Ops::copy_cache; the moves that wait for a pass come first. Throws std::bad_alloc.
  void copy(const CacheCopy& copy);

  /// Notes a move for the next pass that succeeds.
  void add(const SlotMove& move);
  /// All of them, in order.
  const std::vector<PoolSlot>& moves() const { return moves_.all(); }
  void forget_moves() { moves_.forget(); }

  /// Where a layer's keys and values are. Requires: the layer has some.
  call::Cache of(std::size_t layer) const;
  /// What moves do, but for where they are said.
  call::Move move() const;
  /// The first error of the device.
  const Result<void>& state() const { return state_; }

 private:
  struct Cache {
    bool is_open;
    std::size_t context;
    std::vector<int> table;
  };
  PoolSlot slot_in_pool(CacheId cache, std::int32_t slot) const;
  void add_blocks();
  void note(const Result<void>& done) {
    if (state_ && !done) state_ = done;
  }

  Device& device_;
  std::vector<call::Cache> layers_;
  std::size_t block_bytes_ = 0, line_count_ = 0;
  std::unique_ptr<DeviceMemory> lines_, pool_;
  std::vector<int> free_;  // blocks
  std::size_t blocks_ = 0, times_moved_ = 0;
  std::vector<Cache> caches_;
  SlotMoves moves_;
  Result<void> state_;
};

}  // namespace spectr
