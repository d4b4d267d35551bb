#pragma once

#include <cstddef>
#include <span>

namespace spectr {

/// The keys of a head lie in groups of 16 slots, and in a group dimension after dimension: one vector holds
/// the same dimension of neighbouring slots, so that their scores come out side by side.
constexpr std::size_t key_group = 16;

/// Where dimension j of a slot's key is.
constexpr std::size_t key_place(std::size_t slot, std::size_t j, std::size_t head_dim) {
  return (slot / key_group * head_dim + j) * key_group + slot % key_group;
}

/// Attention of one query head over the slots of a cache:
/// out = Σ_s softmax_s(scale · q·K[s]) V[s], s over the first `prefix` slots and the listed `extra` slots,
/// ascending and behind the prefix; what a slot adds does not depend on which of the two it is. keys: as
/// key_place() says, whole groups; values: [slots, head_dim], row after row. scores: scratch of at least
/// key_group floats more than the last slot has before it.
void attend(std::span<const float> q, const float* keys, const float* values, std::size_t prefix,
            std::span<const int> extra, float scale, std::span<float> scores, std::span<float> out);

}  // namespace spectr
