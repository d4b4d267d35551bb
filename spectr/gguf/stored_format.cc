#include "spectr/gguf/stored_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "spectr/gguf/quant/formats.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr {
namespace {

// The sizes are properties of the formats (ggml.h, ggml-common.h).
using enum TensorType;
constexpr std::array unsupported = {
    TensorFormat{i8, "I8", 1, 1},   TensorFormat{i16, "I16", 1, 2}, TensorFormat{i32, "I32", 1, 4},
    TensorFormat{i64, "I64", 1, 8}, TensorFormat{f64, "F64", 1, 8}, TensorFormat{nvfp4, "NVFP4", 64, 36},
};
static_assert(std::ranges::none_of(unsupported, is_supported, &TensorFormat::type));

/// Consecutive type numbers, starting at `first`.
struct Others {
  std::uint32_t first;
  std::string_view whose;
  std::array<std::string_view, 7> names;
};
constexpr std::array others = {
    Others{4, "llama.cpp in 2023", {"Q4_2", "Q4_3"}},
    Others{31, "llama.cpp in 2024", {"Q4_0_4_4", "Q4_0_4_8", "Q4_0_8_8"}},
    Others{36, "llama.cpp in 2024", {"IQ4_NL_4_4", "IQ4_NL_4_8", "IQ4_NL_8_8"}},
    Others{133, "ik_llama.cpp", {"Q6_0", "IQ1_BN", "IQ2_BN"}},
    Others{137, "ik_llama.cpp", {"IQ2_K", "IQ3_K", "IQ4_K", "IQ5_K", "IQ6_K"}},
    Others{144, "ik_llama.cpp", {"IQ4_KS", "IQ2_KS", "IQ4_KSS"}},
    Others{152, "ik_llama.cpp", {"IQ5_KS", "IQ2_KT", "IQ3_KT", "IQ4_KT", "IQ3_KS", "IQ2_KL", "IQ1_KT"}},
};

constexpr StoredFormat as_stored(const TensorFormat& format) {
  return {static_cast<std::uint32_t>(format.type), format.name, format.elements, format.bytes};
}

}  // namespace

std::optional<StoredFormat> stored_format(std::uint32_t type) {
  if (const auto supported = tensor_format(type)) return as_stored(*supported);
  const auto found = std::ranges::find(unsupported, static_cast<TensorType>(type), &TensorFormat::type);
  if (found == unsupported.end()) return std::nullopt;
  return as_stored(*found);
}

std::string retired_or_foreign_format(std::uint32_t type) {
  for (const Others& some : others) {
    const std::uint32_t i = type - some.first;
    if (i < some.names.size() && !some.names[i].empty())
      return fmt::format("{} of {}", some.names[i], some.whose);
  }
  return {};
}

std::string supported_formats() {
  std::string names;
  for (const TensorFormat& format : tensor_formats()) {
    if (!names.empty()) names += ", ";
    names += format.name;
  }
  return names;
}

}  // namespace spectr
