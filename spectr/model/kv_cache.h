#pragma once

#include <cstddef>
#include <span>

#include "spectr/kernels/aligned_bytes.h"

namespace spectr {

/// Keys and values of one text and of the branches that are being looked at.
///
/// Slots 0 … n−1 hold the text's n tokens in order; the slots behind hold tree nodes, which attend to the
/// text and to their own ancestors. Accepting a path moves its slots up behind the text; the rest is simply
/// overwritten. Layout: [layer][kv_head], then what attend() reads: values as [slot][head_dim], keys in
/// groups of slots (see key_place).
class KvCache {
 public:
  KvCache(std::size_t layers, std::size_t kv_heads, std::size_t slots, std::size_t head_dim);
  KvCache(const KvCache&) = delete;
  KvCache& operator=(const KvCache&) = delete;

  std::size_t slots() const { return slots_; }

  /// Of one head, for attend().
  const float* keys(std::size_t layer, std::size_t head) const { return keys_.of(offset(layer, head)); }
  const float* values(std::size_t layer, std::size_t head) const { return values_.of(offset(layer, head)); }

  /// Sets key and value of a slot, head_dim numbers each.
  void write(std::size_t layer, std::size_t head, std::size_t slot, std::span<const float> key,
             std::span<const float> value);

  /// Copies slot `from` to slot `to` in all layers and heads.
  void move(std::size_t from, std::size_t to);

 private:
  /// Numbers in large pages, zeros at first.
  class Numbers {
   public:
    explicit Numbers(std::size_t count);
    float* of(std::size_t offset) const { return reinterpret_cast<float*>(bytes_.get()) + offset; }

   private:
    AlignedBytes bytes_;
  };

  std::size_t offset(std::size_t layer, std::size_t head) const {
    return (layer * kv_heads_ + head) * slots_ * head_dim_;
  }

  std::size_t layers_, kv_heads_, slots_, head_dim_;
  Numbers keys_, values_;
};

}  // namespace spectr
