#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "spectr/base/numeric.h"
#include "spectr/nn/kv_type.h"

namespace spectr {

/// Slots lie in blocks: a sequence takes the memory of as many as it has begun.
constexpr std::size_t slot_block = 64;

/// Keys lie in groups of 16 slots, and in a group dimension after dimension: one vector holds the same
/// dimension of neighbouring slots, so that their scores come out side by side.
constexpr std::size_t key_group = 16;

/// A number as Q8_0 keeps it (round_to_q8): this many times the scale that q8_dims dimensions of a slot
/// share.
struct Q8 {
  std::int8_t quant;
};

template <class T>
constexpr bool has_scales = std::is_same_v<std::remove_const_t<T>, Q8>;

/// U, or const U where T is.
template <class T, class U>
using ConstAs = std::conditional_t<std::is_const_v<T>, const U, U>;

/// Bytes of the `dim` numbers of so many slots, with the scales that some have.
template <class T>
constexpr std::size_t slot_bytes(std::size_t slots, std::size_t dim) {
  return slots * (dim * sizeof(T) + (has_scales<T> ? div_up(dim, q8_dims) * sizeof(float) : 0));
}

/// The scales of slots, which lie behind their numbers: those of the same dimensions side by side.
template <class T>
ConstAs<T, float>* scales_behind(T* numbers, std::size_t slots, std::size_t dim) {
  static_assert(slot_block % sizeof(float) == 0 && key_group % sizeof(float) == 0);
  return reinterpret_cast<ConstAs<T, float>*>(numbers + slots * dim);
}

/// The blocks of a head's keys, or of its values, of type T.
template <class T>
struct CachedBlocks {
  using Byte = ConstAs<T, std::byte>;

  Byte* const* table;  ///< where each block of slots begins
  std::size_t begin;   ///< bytes from there to the head's part
  std::size_t dim;     ///< numbers of a key or a value
  std::size_t ring;    ///< so many blocks make a ring: the one behind the last is the first again

  /// The head's part of the block of a slot.
  Byte* block(std::size_t slot) const {
    const std::size_t number = slot / slot_block;
    return table[number < ring ? number : number % ring] + begin;  // dividing takes longer
  }
};

/// Keys: in each block those of its slots, group after group, each with its scales.
template <class K>
struct CachedKeys : CachedBlocks<K> {
  /// The keys of a group. Requires: slot is its first one.
  K* group(std::size_t slot) const {
    return reinterpret_cast<K*>(this->block(slot) + slot_bytes<K>(slot % slot_block, this->dim));
  }
  /// Dimension j of a slot's key.
  K& key(std::size_t slot, std::size_t j) const {
    return group(slot / key_group * key_group)[j * key_group + slot % key_group];
  }
  /// What dimension j of a slot's key is scaled by.
  ConstAs<K, float>& scale(std::size_t slot, std::size_t j) const {
    const auto scales = scales_behind(group(slot / key_group * key_group), key_group, this->dim);
    return scales[j / q8_dims * key_group + slot % key_group];
  }
};

/// Values: in each block those of its slots, slot after slot, and then their scales.
template <class V>
struct CachedValues : CachedBlocks<V> {
  /// [dim]
  V* value(std::size_t slot) const {
    return reinterpret_cast<V*>(this->block(slot)) + slot % slot_block * this->dim;
  }
  /// What dimension j of a slot's value is scaled by; the neighbours in the slot's block follow.
  ConstAs<V, float>& scale(std::size_t slot, std::size_t j) const {
    const auto scales = scales_behind(reinterpret_cast<V*>(this->block(slot)), slot_block, this->dim);
    return scales[j / q8_dims * slot_block + slot % slot_block];
  }
};

/// Keys of type K and values of type V of one head, F32, F16 or Q8 each: a block has the keys of its slots
/// and then their values.
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

  /// Bytes of a block of a head with so many dimensions.
  static constexpr std::size_t block_bytes(std::size_t dim) {
    return slot_bytes<K>(slot_block, dim) + slot_bytes<V>(slot_block, dim);
  }
};

}  // namespace spectr
