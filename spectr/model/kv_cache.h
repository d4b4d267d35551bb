#pragma once

#include <cstddef>
#include <span>

#include "spectr/kernels/attention.h"
#include "spectr/kernels/half.h"
#include "spectr/model/zeroed_pages.h"

namespace spectr {

/// What keys and values are kept as.
enum class CacheNumbers { floats, halves };

/// Keys and values of one text and of the branches that are being looked at.
///
/// Slots 0 … n−1 hold the text's n tokens in order; the slots behind hold tree nodes, which attend to the
/// text and to their own ancestors. Accepting a path moves its slots up behind the text; the rest is simply
/// overwritten. Layout: blocks of slots, and in a block [layer][kv_head], each as CachedHead says: what a
/// short text has lies close together, however long it may become.
class KvCache {
 public:
  /// Throws std::bad_alloc. Memory is only taken as blocks of slots are begun.
  KvCache(std::size_t layers, std::size_t kv_heads, std::size_t slots, std::size_t head_dim,
          CacheNumbers numbers);
  /// Bytes of all keys and values of such a cache.
  static std::size_t bytes(std::size_t layers, std::size_t kv_heads, std::size_t slots, std::size_t head_dim,
                           CacheNumbers numbers);
  KvCache(const KvCache&) = delete;
  KvCache& operator=(const KvCache&) = delete;

  /// Bytes of a key or value of one head.
  std::size_t row_bytes() const;

  /// Sets key and value of one of the slots. Threads may write different heads at once. Requires: a layer, a
  /// head and a slot of the cache, head_dim numbers each.
  void write(std::size_t layer, std::size_t head, std::size_t slot, std::span<const float> key,
             std::span<const float> value);

  /// attend() to one head.
  void attend(std::size_t layer, std::size_t head, std::span<const Query> queries, float scale,
              std::span<float> scratch, ReadFrom from) const;
  /// Floats of scratch for that.
  std::size_t scratch() const { return attention_scratch(slots_, head_dim_); }

  /// Copies slot `from` to slot `to` in all layers and heads.
  void move(std::size_t from, std::size_t to);

 private:
  /// use() of one head, as floats or as halves.
  template <class Use>
  void with(std::size_t layer, std::size_t head, Use use) const;

  std::size_t layers_, kv_heads_, slots_, head_dim_;
  CacheNumbers numbers_;
  ZeroedPages pages_;
};

}  // namespace spectr
