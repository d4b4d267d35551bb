#include "tests/support/random_tensor.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>

namespace spectr::test {
namespace {

/// Where a super-block of the format keeps its factors of 16 bits.
std::vector<std::size_t> f16_offsets(TensorType type) {
  switch (type) {
    using enum TensorType;
    case q8_0:
    case q4_0:
    case q5_0:
    case iq4_nl:
    case iq4_xs:
      return {0};
    case q4_1:
    case q5_1:
    case q4_k:
    case q5_k:
      return {0, 2};
    case q2_k:
      return {80, 82};
    case q3_k:
      return {108};
    case q6_k:
      return {208};
    default:
      return {};
  }
}

}  // namespace

std::vector<std::byte> random_tensor(TensorType type, std::size_t rows, std::size_t cols,
                                     std::uint32_t seed) {
  const TensorFormat& format = format_of(type);
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(rows * cols / format.elements * format.bytes);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  for (std::size_t block = 0; block < bytes.size(); block += format.bytes) {
    for (const std::size_t offset : f16_offsets(type)) {
      // Sign, exponent 2⁻⁸ or 2⁻⁷, any fraction.
      const auto bits = static_cast<std::uint16_t>((random() & 0x8000u) | (7u + (random() & 1u)) << 10 |
                                                   (random() & 0x3FFu));
      std::memcpy(bytes.data() + block + offset, &bits, sizeof bits);
    }
    if (format.elements > 1) continue;
    const float value = std::uniform_real_distribution<float>(-1, 1)(random);
    if (type == TensorType::f32) {
      std::memcpy(bytes.data() + block, &value, sizeof value);
    } else if (type == TensorType::bf16) {
      const auto bits = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
      std::memcpy(bytes.data() + block, &bits, sizeof bits);
    } else {  // F16: any sign and fraction, numbers below 1, subnormal ones too
      const auto bits = static_cast<std::uint16_t>((random() & 0x8000u) | random() % 0x3C00u);
      std::memcpy(bytes.data() + block, &bits, sizeof bits);
    }
  }
  return bytes;
}

bool is_factor(TensorType type, std::size_t at) {
  return std::ranges::any_of(f16_offsets(type),
                             [at](std::size_t offset) { return at == offset || at == offset + 1; });
}

std::vector<float> random_floats(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> numbers(count);
  for (float& x : numbers) x = normal(random);
  return numbers;
}

std::vector<TensorType> all_tensor_types() {
  using enum TensorType;
  return {f32, f16, bf16, q4_0, q4_1, q5_0, q5_1, q8_0, q2_k, q3_k, q4_k, q5_k, q6_k, iq4_nl, iq4_xs};
}

}  // namespace spectr::test
