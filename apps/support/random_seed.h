#pragma once

#include <cstdint>
#include <random>

namespace spectr {

/// A seed for a text that was given none: 53 bits, what every reader of JSON can hold.
inline std::uint64_t random_seed() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 21) ^ device();
}

}  // namespace spectr
