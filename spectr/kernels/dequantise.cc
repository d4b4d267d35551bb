#include "spectr/kernels/dequantise.h"

#include <cstdint>
#include <cstring>

#include "spectr/base/check.h"
#include "spectr/kernels/code_layout.h"
#include "spectr/kernels/half.h"

namespace spectr {
namespace {

template <float to_float(std::uint16_t)>
void widen(std::span<const std::byte> bytes, std::span<float> out) {
  for (std::size_t j = 0; j < out.size(); ++j) {
    std::uint16_t bits;
    std::memcpy(&bits, bytes.data() + 2 * j, sizeof bits);
    out[j] = to_float(bits);
  }
}

}  // namespace

void dequantise(TensorType type, std::span<const std::byte> bytes, std::span<float> out) {
  const TensorFormat& format = format_of(type);
  SPECTR_CHECK(out.size() % format.elements == 0);
  SPECTR_CHECK(bytes.size() == out.size() / format.elements * format.bytes);
  if (type == TensorType::f32) {
    if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
    return;
  }
  if (type == TensorType::f16) return widen<half_to_float>(bytes, out);
  if (type == TensorType::bf16) return widen<bfloat_to_float>(bytes, out);
  CodeUnit unit{};
  for (std::size_t i = 0; i * format.elements < out.size(); ++i) {
    split_unit(type, bytes.data() + i * format.bytes, unit);
    unit_values(type, unit, out.data() + i * format.elements);
  }
}

}  // namespace spectr
