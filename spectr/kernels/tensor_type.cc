#include "spectr/kernels/tensor_type.h"

#include <algorithm>
#include <array>

#include "spectr/base/check.h"

namespace spectr {
namespace {

using enum TensorType;
constexpr std::array formats = {
    TensorFormat{f32, "F32", 1, 4},         TensorFormat{f16, "F16", 1, 2},
    TensorFormat{q4_0, "Q4_0", 32, 18},     TensorFormat{q4_1, "Q4_1", 32, 20},
    TensorFormat{q5_0, "Q5_0", 32, 22},     TensorFormat{q5_1, "Q5_1", 32, 24},
    TensorFormat{q8_0, "Q8_0", 32, 34},     TensorFormat{q2_k, "Q2_K", 256, 84},
    TensorFormat{q3_k, "Q3_K", 256, 110},   TensorFormat{q4_k, "Q4_K", 256, 144},
    TensorFormat{q5_k, "Q5_K", 256, 176},   TensorFormat{q6_k, "Q6_K", 256, 210},
    TensorFormat{iq4_nl, "IQ4_NL", 32, 18}, TensorFormat{iq4_xs, "IQ4_XS", 256, 136},
    TensorFormat{bf16, "BF16", 1, 2},
};

}  // namespace

std::span<const TensorFormat> tensor_formats() {
  return formats;
}

std::optional<TensorFormat> tensor_format(std::uint32_t type) {
  const auto found = std::ranges::find(formats, static_cast<TensorType>(type), &TensorFormat::type);
  if (found == formats.end()) return std::nullopt;
  return *found;
}

const TensorFormat& format_of(TensorType type) {
  const auto found = std::ranges::find(formats, type, &TensorFormat::type);
  SPECTR_CHECK(found != formats.end());
  return *found;
}

}  // namespace spectr
