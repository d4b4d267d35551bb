#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "spectr/base/numeric.h"
#include "spectr/nn/kv_type.h"

namespace spectr {

/// Slots per block; a sequence allocates blocks as it grows.
constexpr std::size_t slot_block = 64;

/// Slots per group of keys. A group is stored dimension by dimension: a vector has the same dimension of
/// neighbouring slots, and yields their scores in its lanes.
constexpr std::size_t key_group = 16;

/// A number in Q8_0 (round_to_q8): a multiple of the scale that q8_dims dimensions of a slot
/// share.
struct Q8 {
  std::int8_t quant;
};

template <class T>
constexpr bool has_scales = std::is_same_v<std::remove_const_t<T>, Q8>;

/// U, or const U if T is const.
template <class T, class U>
using ConstAs = std::conditional_t<std::is_const_v<T>, const U, U>;

/// Returns the bytes of `slots` slots with `dim` numbers each, including the scales, if any.
template <class T>
constexpr std::size_t slot_bytes(std::size_t slots, std::size_t dim) {
  return slots * (dim * sizeof(T) + (has_scales<T> ? div_up(dim, q8_dims) * sizeof(float) : 0));
}

/// Returns the scales of slots, which follow their numbers; those of the same dimensions are contiguous.
template <class T>
ConstAs<T, float>* scales_behind(T* numbers, std::size_t slots, std::size_t dim) {
  static_assert(slot_block % sizeof(float) == 0 && key_group % sizeof(float) == 0);
  return reinterpret_cast<ConstAs<T, float>*>(numbers + slots * dim);
}

/// The blocks of a head's keys, or of its values, of type T.
template <class T>
struct CachedBlocks {
  using Byte = ConstAs<T, std::byte>;

  Byte* const* table;  ///< addresses of the blocks of slots
  std::size_t begin;   ///< byte offset of the head in a block
  std::size_t dim;     ///< numbers of a key or a value
  std::size_t ring;    ///< blocks in a ring: block i is block i mod ring

  /// Returns the head's part of the block of a slot.
  Byte* block(std::size_t slot) const {
    const std::size_t number = slot / slot_block;
    return table[number < ring ? number : number % ring] + begin;  // division takes longer
  }
};

/// Keys: a block has those of its slots, group by group, each followed by its scales.
template <class K>
struct CachedKeys : CachedBlocks<K> {
  /// Returns the keys of a group. Requires: slot is its first slot.
  K* group(std::size_t slot) const {
    return reinterpret_cast<K*>(this->block(slot) + slot_bytes<K>(slot % slot_block, this->dim));
  }
  /// Returns dimension j of a slot's key.
  K& key(std::size_t slot, std::size_t j) const {
    return group(slot / key_group * key_group)[j * key_group + slot % key_group];
  }
  /// Returns the scale of dimension j of a slot's key.
  ConstAs<K, float>& scale(std::size_t slot, std::size_t j) const {
    const auto scales = scales_behind(group(slot / key_group * key_group), key_group, this->dim);
    return scales[j / q8_dims * key_group + slot % key_group];
  }
};

/// Values: a block has those of its slots, slot by slot, followed by their scales.
template <class V>
struct CachedValues : CachedBlocks<V> {
  /// Returns a slot's value, [dim].
  V* value(std::size_t slot) const {
    return reinterpret_cast<V*>(this->block(slot)) + slot % slot_block * this->dim;
  }
  /// Returns the scale of dimension j of a slot's value; those of the block's next slots follow.
  ConstAs<V, float>& scale(std::size_t slot, std::size_t j) const {
    const auto scales = scales_behind(reinterpret_cast<V*>(this->block(slot)), slot_block, this->dim);
    return scales[j / q8_dims * slot_block + slot % slot_block];
  }
};

/// Keys of type K and values of type V of one head, each F32, F16 or Q8: a block has the keys of its slots,
/// followed by their values.
template <class K, class V = K>
struct CachedHead {
  using Byte = ConstAs<K, std::byte>;

  Byte* const* table;  ///< see CachedBlocks
  std::size_t begin;
  std::size_t dim;
  std::size_t ring = std::numeric_limits<std::size_t>::max();

  CachedKeys<K> keys() const { return {{table, begin, dim, ring}}; }
  CachedValues<V> values() const { return {{table, begin + slot_bytes<K>(slot_block, dim), dim, ring}}; }

  K& key(std::size_t slot, std::size_t j) const { return keys().key(slot, j); }
  V* value(std::size_t slot) const { return values().value(slot); }

  /// Returns the bytes of a head in a block, with `dim` dimensions.
  static constexpr std::size_t block_bytes(std::size_t dim) {
    return slot_bytes<K>(slot_block, dim) + slot_bytes<V>(slot_block, dim);
  }
};

}  // namespace spectr
