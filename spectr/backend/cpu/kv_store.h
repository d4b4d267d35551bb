#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "spectr/backend/cpu/kernels/attention.h"
#include "spectr/base/block_pool.h"
#include "spectr/base/os/pages.h"
#include "spectr/nn/kv_type.h"
#include "spectr/nn/pass_batch.h"

namespace spectr {

/// The KV heads of each layer and their placement. Layers with the same window are stored together.
class KvLayout {
 public:
  struct Layer {
    std::size_t kv_heads, head_dim;
    std::size_t window = 0;  ///< see AttentionSpec
    /// If > 0, the first value_dim numbers of a key are its value (MLA); 0: values are stored separately.
    std::size_t value_dim = 0;
  };
  KvLayout(std::span<const Layer> layers, const KvTypes& types);

  /// Returns the bytes of all keys and values of a sequence.
  std::size_t bytes(const CacheSize& size) const;
  /// Returns the bytes of a block of slots, for the layers without a window.
  std::size_t block_bytes() const { return groups_.front().block_bytes; }

 private:
  friend class KvStore;
  /// The layers with the same window.
  struct Group {
    std::size_t window, block_bytes;
    /// Returns the number of blocks of slots that they keep.
    std::size_t blocks(const CacheSize& size) const;
  };
  struct Location {
    std::size_t group, start;  ///< byte offset of the layer's heads
                               ///< in a block of the group
  };
  /// Returns the bytes of one head in a block.
  std::size_t head_bytes(const Layer& layer) const;

  std::vector<Layer> layers_;
  std::vector<Location> locations_;  // by layer
  std::vector<Group> groups_;        // the first has no window, and may have no layers
  KvTypes types_;
};

/// Keys and values of one sequence and of its tree branches. KvSlots manages the contents of slots.
/// Layout: blocks of slots, each [layer][kv_head] in the layout of CachedHead, so that the data of a short
/// sequence is compact. Blocks come from a pool, and stores share those of equal prefixes. Layers with a
/// window have their own blocks, in a ring whose length CacheSize determines: the latest slots overwrite
/// the earliest.
class KvStore {
 public:
  /// Throws std::bad_alloc if there is less memory than the sequence can need, although memory is only taken
  /// when blocks are begun. The layout, and the pool with its block_bytes(), must outlive the store.
  KvStore(const KvLayout& layout, const CacheSize& size, BlockPool& pool);
  KvStore(const KvStore&) = delete;
  KvStore& operator=(const KvStore&) = delete;

  std::size_t slots() const { return slots_; }
  /// See CacheSize.
  std::size_t context() const { return context_; }

  /// Makes the slots [begin, end) writable, copying shared blocks, and drops blocks further behind them than
  /// a tree reaches. Throws std::bad_alloc; the slots' contents are then unchanged.
  void own(std::size_t begin, std::size_t end);

  /// Sets the key and value of a slot. Thread-safe for different heads. Requires: the store owns the slot;
  /// key and value have head_dim numbers each; no value if keys contain the values.
  void write(std::size_t layer, std::size_t head, std::size_t slot, std::span<const float> key,
             std::span<const float> value);

  /// Calls attend() for one head.
  void attend(std::size_t layer, std::size_t head, std::span<const Query> queries, ScoreRule rule,
              std::span<float> scratch, ReadFrom from) const;

  /// Copies slot `from` to slot `to`, in all layers and heads. Requires: the store owns `to`.
  void move(std::size_t from, std::size_t to);

  /// Returns the blocks of the first `slots` slots. Full blocks become shared; a partial last block is
  /// copied. Throws std::bad_alloc. Requires: the slots have been written.
  std::vector<SharedBlock> share(std::size_t slots);
  /// Replaces the contents by the first `slots` slots of shared blocks. Full blocks are shared; a
  /// partial last block is copied. Throws std::bad_alloc, without effect. Requires: enough blocks for
  /// `slots`.
  void take(std::span<const SharedBlock> blocks, std::size_t slots);
  /// Appends the memory of layers with a window, for a sequence of `slots` slots.
  void append_windows(std::size_t slots, std::vector<std::span<std::byte>>& memory) const;

 private:
  /// Calls beside(CachedHead) for a head, or once(CachedValues) if keys contain the values, with their types.
  template <class Beside, class Once>
  void with(std::size_t layer, std::size_t head, const Beside& beside, const Once& once) const;

  /// A block of slots, for the layers without a window.
  struct Held {
    SharedBlock block;
    bool own = false;  // true if not shared
  };
  /// The blocks of a group: their addresses, and the number that forms a ring.
  struct Blocks {
    std::vector<std::byte*> table;
    std::size_t ring;
  };
  SharedBlock copy_of(const SharedBlock& block) const;
  /// Sets block i, or appends it if i is one past the last. Does not allocate: capacity is reserved.
  void set(std::size_t i, Held block);
  /// Drops all blocks from `begin` on.
  void drop(std::size_t begin);

  const KvLayout& layout_;
  BlockPool& pool_;
  std::size_t slots_, context_;
  std::vector<Blocks> blocks_;        // by group
  std::vector<Held> held_;            // the blocks begun so far
  std::vector<ZeroedPages> windows_;  // of the groups with a window
};

}  // namespace spectr
