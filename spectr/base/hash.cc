#include "spectr/base/hash.h"

#include <algorithm>
#include <cstring>
#include <random>

namespace spectr {

KeyedHash::KeyedHash() {
  static const Key drawn = draw_key();
  key_ = drawn;
}

KeyedHash::Key KeyedHash::draw_key() {
  std::random_device device;
  std::uniform_int_distribution<std::uint64_t> any(0, prime - 1), not_zero(1, prime - 1);
  return {any(device), not_zero(device), any(device)};
}

std::size_t KeyedHash::operator()(std::string_view text) const {
  std::uint64_t h = text.size() & prime;
  constexpr std::size_t bytes = 7;  // per coefficient, so that each is less than the prime
  while (!text.empty()) {
    std::uint64_t coefficient = 0;
    const std::size_t taken = std::min(bytes, text.size());
    std::memcpy(&coefficient, text.data(), taken);
    h = reduced(Wide{h} * key_.point + coefficient);
    text.remove_prefix(taken);
  }
  return scattered(reduced(Wide{h} * key_.a + key_.b));
}

}  // namespace spectr
