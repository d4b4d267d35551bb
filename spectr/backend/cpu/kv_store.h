#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "spectr/backend/cpu/kernels/attention.h"
#include "spectr/base/block_pool.h"
#include "spectr/base/zeroed_pages.h"
#include "spectr/nn/kv_type.h"
#include "spectr/nn/pass_batch.h"

namespace spectr {

/// The heads of keys of each layer, and where they lie: layers of one window together.
class KvLayout {
 public:
  struct Layer {
    std::size_t kv_heads, head_dim;
    std::size_t window = 0;  ///< see AttentionSpec
    /// So many first numbers of a key are its value, and no others are kept; 0: values are kept beside keys.
    std::size_t value_dim = 0;
  };
  KvLayout(std::span<const Layer> layers, const KvTypes& types);

  /// Bytes of all keys and values of a sequence.
  std::size_t bytes(const CacheSize& size) const;
  /// Bytes of a block of slots of the layers without a window.
  std::size_t block_bytes() const { return groups_.front().block_bytes; }

 private:
  friend class KvStore;
  /// Layers of one window.
  struct Group {
    std::size_t window, block_bytes;
    /// How many blocks of slots they keep.
    std::size_t blocks(const CacheSize& size) const;
  };
  struct Place {
    std::size_t group, start;  ///< the byte of the group's block at which the
                               ///< layer's heads begin
  };
  /// Bytes of a block of one head.
  std::size_t head_bytes(const Layer& layer) const;

  std::vector<Layer> layers_;
  std::vector<Place> places_;  // by layer
  std::vector<Group> groups_;  // the first one has no window, and maybe no layers
  KvTypes types_;
};

/// Keys and values of one sequence and of the branches that are being looked at; which slot holds what is
/// KvSlots' business. Layout: blocks of slots, and in a block [layer][kv_head], each as CachedHead says: what
/// a short sequence has lies close together, however long it may become. Blocks come from a pool, and stores
/// share those of equal beginnings. Layers with a window have blocks of their own, in a ring of as many as
/// CacheSize asks for: the latest slots overwrite the earliest ones.
class KvStore {
 public:
  /// Throws std::bad_alloc where there is less memory than such a sequence may come to take; it is only taken
  /// as blocks of slots are begun. The layout and the pool, of its block_bytes(), must outlive it.
  KvStore(const KvLayout& layout, const CacheSize& size, BlockPool& pool);
  KvStore(const KvStore&) = delete;
  KvStore& operator=(const KvStore&) = delete;

  std::size_t slots() const { return slots_; }
  /// See CacheSize.
  std::size_t context() const { return context_; }

  /// The slots [begin, end) become this store's own to write to, as they are; blocks that lie further behind
  /// them than a tree reaches are dropped. Throws std::bad_alloc; what the slots hold has not changed then.
  void own(std::size_t begin, std::size_t end);

  /// Sets key and value of one of the slots. Threads may write different heads at once. Requires: a layer, a
  /// head and a slot that the store owns, head_dim numbers each; no value where keys have them.
  void write(std::size_t layer, std::size_t head, std::size_t slot, std::span<const float> key,
             std::span<const float> value);

  /// attend() to one head.
  void attend(std::size_t layer, std::size_t head, std::span<const Query> queries, ScoreRule rule,
              std::span<float> scratch, ReadFrom from) const;

  /// Copies slot `from` to slot `to`, which the store owns, in all layers and heads.
  void move(std::size_t from, std::size_t to);

  /// Returns the blocks of the first `slots` slots: full ones are shared from now on, a last one that is not
  /// full is a copy. Throws std::bad_alloc. Requires: they have been written.
  std::vector<SharedBlock> share(std::size_t slots);
  /// The first `slots` slots become those of shared blocks, and all others are dropped: full ones are shared,
  /// of a last one that is not full a copy is taken. Throws std::bad_alloc; nothing has changed then.
  /// Requires: as many blocks.
  void take(std::span<const SharedBlock> blocks, std::size_t slots);
  /// Appends the memory of layers with a window for a sequence of so many slots.
  void append_windows(std::size_t slots, std::vector<std::span<std::byte>>& memory) const;

 private:
  /// beside(CachedHead) of one head, or once(CachedValues) where keys have the values, by their types.
  template <class Beside, class Once>
  void with(std::size_t layer, std::size_t head, const Beside& beside, const Once& once) const;

  /// A block of slots of the layers without a window.
  struct Held {
    SharedBlock block;
    bool own = false;  // nobody else holds it
  };
  /// The blocks of a group: where each begins, and how many make a ring.
  struct Blocks {
    std::vector<std::byte*> table;
    std::size_t ring;
  };
  SharedBlock copy_of(const SharedBlock& block) const;
  /// Block i becomes this one; i may be behind the last. Takes no memory: there are no more than a ring.
  void set(std::size_t i, Held block);
  /// Drops the blocks from `begin` on.
  void drop(std::size_t begin);

  const KvLayout& layout_;
  BlockPool& pool_;
  std::size_t slots_, context_;
  std::vector<Blocks> blocks_;        // by group
  std::vector<Held> held_;            // as many as the sequence has begun
  std::vector<ZeroedPages> windows_;  // of the groups that have one
};

}  // namespace spectr
