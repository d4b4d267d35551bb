#pragma once

#include <cstdint>
#include <random>

namespace spectr {

/// Returns a random seed of 53 bits, which every JSON reader can represent exactly.
inline std::uint64_t random_seed() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 21) ^ device();
}

}  // namespace spectr
