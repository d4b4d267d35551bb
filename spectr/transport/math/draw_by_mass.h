#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "spectr/base/choices.h"
#include "spectr/base/numeric.h"

namespace spectr {

/// Draws i < n with probability ∝ mass(i, i + 1), where mass(begin, end) is the total weight of that range.
/// Needs no buffer for weights that are computed on the fly. Each draw narrows the range by a factor of 256;
/// up to 256 weights take one draw.
/// Requires: n ≥ 1, mass(0, n) > 0. Cost: about n evaluations of weights.
template <class Mass>
std::size_t draw_by_mass(Choices& choices, std::size_t n, Mass&& mass) {
  constexpr std::size_t fan = 256;
  std::size_t begin = 0;
  while (n > 1) {
    const std::size_t width = div_up(n, fan);
    const std::size_t end = begin + n;
    std::array<double, fan> weights;
    std::size_t pieces = 0;
    for (std::size_t b = begin; b < end; b += width) weights[pieces++] = mass(b, std::min(b + width, end));
    begin += width * choices.draw(std::span(weights).first(pieces));
    n = std::min(width, end - begin);
  }
  return begin;
}

}  // namespace spectr
