#include "spectr/nn/kv_type.h"

#include <bit>

namespace spectr {

float round_to_q8(std::span<const float> x, std::span<std::int8_t> quants) {
  std::uint32_t bits = 0;  // of the largest magnitude: bits are ordered like the numbers, NaN last
  for (const float number : x) bits = std::max(bits, std::bit_cast<std::uint32_t>(number) & 0x7FFF'FFFFu);
  const auto largest = std::bit_cast<float>(bits);
  const bool nothing = largest < 1e-30f;  // the reciprocal of a smaller number could overflow
  const float reciprocal = nothing ? 0.0f : 127.0f / largest;
  constexpr float start = 0x1.8p23f;  // adding it rounds to an integer, the low byte of the sum's bits
  for (std::size_t j = 0; j < x.size(); ++j) {
    const auto rounded = std::bit_cast<std::uint32_t>(x[j] * reciprocal + start);
    quants[j] = static_cast<std::int8_t>(rounded & 0xFFu);
  }
  return nothing ? 0.0f : largest / 127.0f;
}

}  // namespace spectr
