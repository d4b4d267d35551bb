#include "spectr/gguf/stored_format.h"

#include <algorithm>
#include <array>

#include "spectr/gguf/quant/formats.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr {
namespace {

// The sizes are facts about the formats (ggml.h, ggml-common.h).
using enum TensorType;
constexpr std::array unsupported = {
    TensorFormat{iq2_xxs, "IQ2_XXS", 256, 66},
    TensorFormat{iq2_xs, "IQ2_XS", 256, 74},
    TensorFormat{iq3_xxs, "IQ3_XXS", 256, 98},
    TensorFormat{iq1_s, "IQ1_S", 256, 50},
    TensorFormat{iq3_s, "IQ3_S", 256, 110},
    TensorFormat{iq2_s, "IQ2_S", 256, 82},
    TensorFormat{i8, "I8", 1, 1},
    TensorFormat{i16, "I16", 1, 2},
    TensorFormat{i32, "I32", 1, 4},
    TensorFormat{i64, "I64", 1, 8},
    TensorFormat{f64, "F64", 1, 8},
    TensorFormat{iq1_m, "IQ1_M", 256, 56},
    TensorFormat{tq1_0, "TQ1_0", 256, 54},
    TensorFormat{tq2_0, "TQ2_0", 256, 66},
    TensorFormat{mxfp4, "MXFP4", 32, 17},
    TensorFormat{nvfp4, "NVFP4", 64, 36},
    TensorFormat{q1_0, "Q1_0", 128, 18},
    TensorFormat{q2_0, "Q2_0", 64, 18},
};
static_assert(std::ranges::none_of(unsupported, is_supported, &TensorFormat::type));

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

std::string supported_formats() {
  std::string names;
  for (const TensorFormat& format : tensor_formats()) {
    if (!names.empty()) names += ", ";
    names += format.name;
  }
  return names;
}

}  // namespace spectr
