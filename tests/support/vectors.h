#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/support/random_tensor.h"

namespace spectr::test {

/// Runs `claim` for lengths around the widths of vectors and unrolled loops, at all offsets in a vector.
template <class Claim>
void at_every_length_and_offset(const Claim& claim) {
  for (std::size_t n = 1; n <= 2 * 64 + 1; n += n < 36 ? 1 : 7) {
    for (const std::size_t offset : {0, 1, 3, 8}) claim(n, offset);
  }
  claim(2048, 0);
}

/// Runs `claim` for vectors with the worst rounding errors in sums of exponentials: long ones, in which all
/// numbers but the first are nearly equal, so that every addition is rounded in the same direction.
template <class Claim>
void for_long_vectors(const Claim& claim) {
  for (const std::size_t n : {131'071, 131'072, 131'085}) {
    for (const float below : {0.0f, 0.2f}) {
      for (const float spread : {0.0f, 1e-5f}) {
        SCOPED_TRACE(testing::Message()
                     << n << " numbers, " << below << " below one, " << spread << " apart");
        std::vector<float> x = random_floats(n, 1);
        for (float& v : x) v = 0.5f - below + spread * v;
        x[0] = 0.5f;
        claim(x);
      }
    }
  }
}

/// Random numbers that start at a given offset in memory.
struct Vectors {
  std::vector<float> store;
  std::span<float> view;

  Vectors(std::size_t n, std::size_t offset, std::uint32_t seed)
      : store(random_floats(n + offset, seed)), view(std::span(store).subspan(offset)) {}
};

}  // namespace spectr::test
