#pragma once

#include <cstddef>

namespace spectr {

/// Slots lie in blocks: a sequence takes the memory of as many as it has begun.
constexpr std::size_t slot_block = 64;

/// Keys lie in groups of 16 slots, and in a group dimension after dimension: one vector holds the same
/// dimension of neighbouring slots, so that their scores come out side by side.
constexpr std::size_t key_group = 16;

/// Keys and values of one head, F32 or F16: each block has the keys of its slots, group after group, and then
/// their values, slot after slot.
template <class T>
struct CachedHead {
  T* blocks;          ///< where the first of them begins
  std::size_t apart;  ///< numbers from one block to the next
  std::size_t dim;    ///< numbers of a key or a value

  /// The keys of a group. Requires: slot is its first one.
  T* keys(std::size_t slot) const { return block(slot) + slot % slot_block * dim; }
  /// Dimension j of a slot's key.
  T& key(std::size_t slot, std::size_t j) const {
    return keys(slot / key_group * key_group)[j * key_group + slot % key_group];
  }
  /// [dim]; the other values of its block follow.
  T* value(std::size_t slot) const { return block(slot) + (slot_block + slot % slot_block) * dim; }

 private:
  T* block(std::size_t slot) const { return blocks + slot / slot_block * apart; }
};

/// How many numbers a block has.
constexpr std::size_t block_numbers(std::size_t dim) {
  return 2 * slot_block * dim;
}

}  // namespace spectr
