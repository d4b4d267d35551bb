#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace spectr {

/// A token of a vocabulary: 0 … V−1. "No token" is std::nullopt, never a special value.
using Token = std::int32_t;

/// Returns the length of the longest common prefix of two sequences.
inline std::size_t common_beginning(std::span<const Token> a, std::span<const Token> b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace spectr
