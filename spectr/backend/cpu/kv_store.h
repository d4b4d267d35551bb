#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "spectr/backend/cpu/kernels/attention.h"
#include "spectr/backend/cpu/zeroed_pages.h"
#include "spectr/nn/kv_type.h"

namespace spectr {

/// The heads of keys of each layer, and where they lie.
class KvLayout {
 public:
  struct Layer {
    std::size_t kv_heads, head_dim;
  };
  KvLayout(std::span<const Layer> layers, const KvTypes& types);

  /// Bytes of all keys and values of a sequence of so many slots.
  std::size_t bytes(std::size_t slots) const;

 private:
  friend class KvStore;
  std::vector<Layer> layers_;
  std::vector<std::size_t> starts_;  // by layer: byte of a block at which its heads begin
  std::size_t block_bytes_ = 0;      // of all layers
  KvTypes types_;
};

/// Keys and values of one sequence and of the branches that are being looked at; which slot holds what is
/// KvSlots' business. Layout: blocks of slots, and in a block [layer][kv_head], each as CachedHead says: what
/// a short sequence has lies close together, however long it may become.
class KvStore {
 public:
  /// Throws std::bad_alloc. Memory is only taken as blocks of slots are begun. The layout must outlive it.
  KvStore(const KvLayout& layout, std::size_t slots);
  KvStore(const KvStore&) = delete;
  KvStore& operator=(const KvStore&) = delete;

  std::size_t slots() const { return slots_; }

  /// Sets key and value of one of the slots. Threads may write different heads at once. Requires: a layer, a
  /// head and a slot of the store, head_dim numbers each.
  void write(std::size_t layer, std::size_t head, std::size_t slot, std::span<const float> key,
             std::span<const float> value);

  /// attend() to one head.
  void attend(std::size_t layer, std::size_t head, std::span<const Query> queries, float scale,
              std::span<float> scratch, ReadFrom from) const;

  /// Copies slot `from` to slot `to` in all layers and heads.
  void move(std::size_t from, std::size_t to);

 private:
  /// use() of one head, by what its keys and values are.
  template <class Use>
  void with(std::size_t layer, std::size_t head, Use use) const;

  const KvLayout& layout_;
  std::size_t slots_;
  ZeroedPages pages_;
};

}  // namespace spectr
