// Formats of independent numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "spectr/gguf/f16.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr::quant {

/// Returns the 16 bits at `file`.
[[gnu::always_inline]] inline std::uint16_t word_at(const std::byte* file) {
  std::uint16_t word;
  std::memcpy(&word, file, sizeof word);
  return word;
}

struct F32 {
  static constexpr TensorFormat format{TensorType::f32, "F32", 1, 4};

  [[gnu::always_inline]] static float value(const std::byte* file) {
    float value;
    std::memcpy(&value, file, sizeof value);
    return value;
  }
  template <class Lanes>
  [[gnu::always_inline]] static typename Lanes::Floats load(const std::byte* file) {
    return Lanes::f32s(file);
  }
};

struct F16 {
  static constexpr TensorFormat format{TensorType::f16, "F16", 1, 2};

  [[gnu::always_inline]] static float value(const std::byte* file) { return f16_to_float(word_at(file)); }
  template <class Lanes>
  [[gnu::always_inline]] static typename Lanes::Floats load(const std::byte* file) {
    return Lanes::f16s(file);
  }
};

struct BF16 {
  static constexpr TensorFormat format{TensorType::bf16, "BF16", 1, 2};

  [[gnu::always_inline]] static float value(const std::byte* file) { return bf16_to_float(word_at(file)); }
  template <class Lanes>
  [[gnu::always_inline]] static typename Lanes::Floats load(const std::byte* file) {
    return Lanes::bf16s(file);
  }
};

}  // namespace spectr::quant
