#include "spectr/gguf/quantize.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "spectr/base/check.h"
#include "spectr/gguf/f16.h"

namespace spectr {
namespace {

constexpr std::size_t block = 32;  // numbers that share a scale
using Numbers = std::span<const float, block>;

std::byte* write_f16(float x, std::byte* out) {
  const F16 f16 = round_to_f16(x);
  std::memcpy(out, &f16.bits, sizeof f16.bits);
  return out + sizeof f16.bits;
}

float inverse(float d) {
  return d == 0.0f ? 0.0f : 1.0f / d;
}

/// Returns the number of the largest magnitude, the first of several.
float of_largest_size(Numbers x) {
  return *std::ranges::max_element(x, {}, [](float number) { return std::abs(number); });
}

void write_q8_0(Numbers x, std::byte* out) {
  const float d = std::abs(of_largest_size(x)) / 127.0f, factor = inverse(d);
  out = write_f16(d, out);
  for (std::size_t j = 0; j < block; ++j)
    out[j] = static_cast<std::byte>(static_cast<std::int8_t>(std::round(x[j] * factor)));
}

/// Writes quants of 4 or 5 bits: the fifth bits of all, if any, then nibbles of quants j and j + 16.
void write_quants(const std::uint8_t* quants, int bits, std::byte* out) {
  if (bits == 5) {
    std::uint32_t fifths = 0;
    for (std::size_t j = 0; j < block; ++j) fifths |= static_cast<std::uint32_t>(quants[j] >> 4) << j;
    std::memcpy(out, &fifths, sizeof fifths);
    out += sizeof fifths;
  }
  for (std::size_t j = 0; j < block / 2; ++j)
    out[j] = static_cast<std::byte>((quants[j] & 15) | (quants[j + block / 2] & 15) << 4);
}

/// Writes d and quants with x ≈ d (quant − 2^(bits − 1)).
void write_symmetric(Numbers x, int bits, std::byte* out) {
  const float half = static_cast<float>(1 << (bits - 1)), largest = 2.0f * half - 1.0f;
  const float d = of_largest_size(x) / -half, factor = inverse(d);
  std::uint8_t quants[block];
  for (std::size_t j = 0; j < block; ++j)
    quants[j] = static_cast<std::uint8_t>(std::min(largest, std::trunc(x[j] * factor + (half + 0.5f))));
  write_quants(quants, bits, write_f16(d, out));
}

/// Writes d, min and quants with x ≈ d quant + min.
void write_with_minimum(Numbers x, int bits, std::byte* out) {
  const auto [min, max] = std::ranges::minmax(x);
  const auto largest = static_cast<float>((1 << bits) - 1);
  const float d = (max - min) / largest, factor = inverse(d);
  std::uint8_t quants[block];
  for (std::size_t j = 0; j < block; ++j)
    quants[j] = static_cast<std::uint8_t>(std::min(largest, std::trunc((x[j] - min) * factor + 0.5f)));
  write_quants(quants, bits, write_f16(min, write_f16(d, out)));
}

void write_bf16(float x, std::byte* out) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const auto nearest = static_cast<std::uint16_t>((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
  std::memcpy(out, &nearest, sizeof nearest);
}

constexpr TensorType types[] = {TensorType::f32,  TensorType::f16,  TensorType::bf16, TensorType::q8_0,
                                TensorType::q5_1, TensorType::q5_0, TensorType::q4_1, TensorType::q4_0};

void write_block(TensorType type, Numbers x, std::byte* out) {
  switch (type) {
    case TensorType::q8_0:
      return write_q8_0(x, out);
    case TensorType::q4_0:
      return write_symmetric(x, 4, out);
    case TensorType::q5_0:
      return write_symmetric(x, 5, out);
    case TensorType::q4_1:
      return write_with_minimum(x, 4, out);
    case TensorType::q5_1:
      return write_with_minimum(x, 5, out);
    default:
      SPECTR_CHECK(false);
  }
}

}  // namespace

std::span<const TensorType> quantizable_types() {
  return types;
}

void quantize(TensorType type, std::span<const float> x, std::span<std::byte> out) {
  const TensorFormat& format = format_of(type);
  SPECTR_CHECK(std::ranges::find(types, type) != std::end(types));
  SPECTR_CHECK(x.size() % format.elements == 0 && out.size() == x.size() / format.elements * format.bytes);
  std::byte* to = out.data();
  for (std::size_t j = 0; j < x.size(); j += format.elements, to += format.bytes) {
    if (format.is_quantized()) {
      write_block(type, x.subspan(j).first<block>(), to);
    } else if (type == TensorType::f32) {
      std::memcpy(to, &x[j], sizeof(float));
    } else if (type == TensorType::f16) {
      write_f16(x[j], to);
    } else {
      write_bf16(x[j], to);
    }
  }
}

}  // namespace spectr
