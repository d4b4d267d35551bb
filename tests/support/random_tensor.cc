#include "tests/support/random_tensor.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>

namespace spectr::test {
namespace {

/// Returns the offsets of the 16-bit factors in a block of the format.
std::vector<std::size_t> f16_offsets(TensorType type) {
  switch (type) {
    using enum TensorType;
    case q8_0:
    case q4_0:
    case q5_0:
    case iq4_nl:
    case iq4_xs:
    case iq1_s:
    case iq2_xxs:
    case iq2_xs:
    case iq2_s:
    case iq3_xxs:
    case iq3_s:
    case q1_0:
    case q2_0:
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
    case tq1_0:
      return {52};
    case tq2_0:
      return {64};
    default:
      return {};
  }
}

/// Returns a factor with a random sign and fraction and with exponent 2⁻⁸ or 2⁻⁷.
std::uint16_t random_factor(std::mt19937& random) {
  return static_cast<std::uint16_t>((random() & 0x8000u) | (7u + (random() & 1u)) << 10 |
                                    (random() & 0x3FFu));
}

/// Replaces the factors in a block of random bytes with moderate ones.
void set_factors(TensorType type, std::mt19937& random, std::byte* block) {
  for (const std::size_t offset : f16_offsets(type)) {
    const std::uint16_t bits = random_factor(random);
    std::memcpy(block + offset, &bits, sizeof bits);
  }
  if (type == TensorType::mxfp4) block[0] = static_cast<std::byte>(118u + random() % 3);
  if (type == TensorType::iq1_m) {  // each 16-bit word of scales has a nibble of it on top
    const unsigned bits = random_factor(random);
    for (std::size_t i = 0; i < 4; ++i) {
      std::byte& top = block[49 + 2 * i];
      top = (top & std::byte{15}) | static_cast<std::byte>(bits >> (4 * i) << 4);
    }
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
    set_factors(type, random, bytes.data() + block);
    if (format.elements > 1) continue;
    const float value = std::uniform_real_distribution<float>(-1, 1)(random);
    if (type == TensorType::f32) {
      std::memcpy(bytes.data() + block, &value, sizeof value);
    } else if (type == TensorType::bf16) {
      const auto bits = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
      std::memcpy(bytes.data() + block, &bits, sizeof bits);
    } else {  // F16: any sign and fraction, numbers below 1, including subnormal ones
      const auto bits = static_cast<std::uint16_t>((random() & 0x8000u) | random() % 0x3C00u);
      std::memcpy(bytes.data() + block, &bits, sizeof bits);
    }
  }
  return bytes;
}

bool is_factor(TensorType type, std::size_t at) {
  if (type == TensorType::mxfp4) return at == 0;
  if (type == TensorType::iq1_m) return at >= 48 && at % 2 == 1;
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
  std::vector<TensorType> types;
  for (const TensorFormat& format : tensor_formats()) types.push_back(format.type);
  return types;
}

}  // namespace spectr::test
