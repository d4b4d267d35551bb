#pragma once

#include <cstddef>
#include <limits>
#include <type_traits>

namespace spectr {

/// Slots lie in blocks: a sequence takes the memory of as many as it has begun.
constexpr std::size_t slot_block = 64;

/// Keys lie in groups of 16 slots, and in a group dimension after dimension: one vector holds the same
/// dimension of neighbouring slots, so that their scores come out side by side.
constexpr std::size_t key_group = 16;

/// Keys of type K and values of type V of one head, F32 or F16 each: a block has the keys of its slots, group
/// after group, and then their values, slot after slot.
template <class K, class V = K>
struct CachedHead {
  using Key = K;
  using Value = V;
  using Byte = std::conditional_t<std::is_const_v<K>, const std::byte, std::byte>;

  Byte* blocks;       ///< where the first of them begins
  std::size_t apart;  ///< bytes from one block to the next
  std::size_t dim;    ///< numbers of a key or a value
  /// So many blocks make a ring: the one behind the last is the first again.
  std::size_t ring = std::numeric_limits<std::size_t>::max();

  /// The keys of a group. Requires: slot is its first one.
  K* keys(std::size_t slot) const { return reinterpret_cast<K*>(block(slot)) + slot % slot_block * dim; }
  /// Dimension j of a slot's key.
  K& key(std::size_t slot, std::size_t j) const {
    return keys(slot / key_group * key_group)[j * key_group + slot % key_group];
  }
  /// [dim]; the other values of its block follow.
  V* value(std::size_t slot) const {
    return reinterpret_cast<V*>(block(slot) + slot_block * dim * sizeof(K)) + slot % slot_block * dim;
  }

  /// Bytes of a block of a head with so many dimensions.
  static constexpr std::size_t block_bytes(std::size_t dim) {
    return slot_block * dim * (sizeof(K) + sizeof(V));
  }

 private:
  Byte* block(std::size_t slot) const {
    const std::size_t number = slot / slot_block;
    return blocks + (number < ring ? number : number % ring) * apart;  // dividing takes longer
  }
};

}  // namespace spectr
