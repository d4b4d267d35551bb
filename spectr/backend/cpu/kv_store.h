#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "spectr/backend/cpu/kernels/attention.h"
#include "spectr/backend/cpu/zeroed_pages.h"
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
  std::vector<Group> groups_;
  KvTypes types_;
};

/// Keys and values of one sequence and of the branches that are being looked at; which slot holds what is
/// KvSlots' business. Layout: blocks of slots, and in a block [layer][kv_head], each as CachedHead says: what
/// a short sequence has lies close together, however long it may become. Layers with a window have blocks of
/// their own, in a ring of as many as CacheSize asks for: the latest slots overwrite the earliest ones.
class KvStore {
 public:
  /// Throws std::bad_alloc. Memory is only taken as blocks of slots are begun. The layout must outlive it.
  KvStore(const KvLayout& layout, const CacheSize& size);
  KvStore(const KvStore&) = delete;
  KvStore& operator=(const KvStore&) = delete;

  std::size_t slots() const { return slots_; }
  /// See CacheSize.
  std::size_t context() const { return context_; }

  /// Sets key and value of one of the slots. Threads may write different heads at once. Requires: a layer, a
  /// head and a slot of the store, head_dim numbers each; no value where keys have them.
  void write(std::size_t layer, std::size_t head, std::size_t slot, std::span<const float> key,
             std::span<const float> value);

  /// attend() to one head.
  void attend(std::size_t layer, std::size_t head, std::span<const Query> queries, ScoreRule rule,
              std::span<float> scratch, ReadFrom from) const;

  /// Copies slot `from` to slot `to` in all layers and heads.
  void move(std::size_t from, std::size_t to);

  /// Appends the memory of its first `slots` slots. Throws std::bad_alloc.
  void append_memory(std::size_t slots, CacheMemory& memory) const;

 private:
  /// beside(CachedHead) of one head, or once(CachedValues) where keys have the values, by their types.
  template <class Beside, class Once>
  void with(std::size_t layer, std::size_t head, const Beside& beside, const Once& once) const;

  const KvLayout& layout_;
  std::size_t slots_, context_;
  std::vector<std::size_t> rings_;  // blocks of each group
  std::vector<ZeroedPages> pages_;  // of each group
};

}  // namespace spectr
