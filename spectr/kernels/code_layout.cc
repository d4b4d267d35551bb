#include "spectr/kernels/code_layout.h"

#include <utility>

#include "spectr/base/check.h"
#include "spectr/kernels/half.h"
#include "spectr/kernels/split.h"

namespace spectr {
namespace {

/// Scale and minimum of the columns [scale_columns · i, …).
struct Scale {
  float factor;
  float min;
};

// Q4_K and Q5_K keep eight pairs (scale, minimum) of 6 bits in 12 bytes: the first four in the low 6 bits of
// bytes 0…3 and 4…7; of the others the low nibbles in bytes 8…11 and the high pairs of bits on top of the
// first.
Scale six_bit_pair(const CodeUnit& unit, int i) {
  const auto& b = unit.scales;
  const int scale = i < 4 ? b[i] & 63 : (b[i + 4] & 15) | (b[i - 4] >> 6) << 4;
  const int min = i < 4 ? b[i + 4] & 63 : b[i + 4] >> 4 | (b[i] >> 6) << 4;
  return {half_to_float(unit.halves[0]) * static_cast<float>(scale),
          half_to_float(unit.halves[1]) * static_cast<float>(min)};
}

// Q3_K keeps sixteen 6-bit scales, less 32, in 12 bytes: low nibbles in bytes 0…7, first those of the scales
// 0…7, on top of them those of 8…15; high pairs of bits of scales i, i + 4, i + 8, i + 12 in byte 8 + i.
int six_bit_scale(const CodeUnit& unit, int i) {
  const auto& b = unit.scales;
  const int low = i < 8 ? b[i] & 15 : b[i - 8] >> 4;
  return (low | (b[8 + i % 4] >> (2 * (i / 4)) & 3) << 4) - 32;
}

// IQ4_XS keeps eight 6-bit scales, less 32: high pairs of bits in bytes 0 and 1, low nibbles in bytes 2…5.
int nonlinear_scale(const CodeUnit& unit, int i) {
  const auto& b = unit.scales;
  const int low = b[2 + i / 2] >> (4 * (i % 2)) & 15;
  return (low | (b[i / 4] >> (2 * (i % 4)) & 3) << 4) - 32;
}

Scale scale_of(TensorType type, const CodeUnit& unit, int i) {
  const float d = half_to_float(unit.halves[0]);
  switch (type) {
    using enum TensorType;
    case q4_1:
    case q5_1:
      return {d, -half_to_float(unit.halves[1])};
    case q2_k:
      return {d * static_cast<float>(unit.scales[i] & 15),
              half_to_float(unit.halves[1]) * static_cast<float>(unit.scales[i] >> 4)};
    case q3_k:
      return {d * static_cast<float>(six_bit_scale(unit, i)), 0};
    case q4_k:
    case q5_k:
      return six_bit_pair(unit, i);
    case q6_k:
      return {d * static_cast<float>(static_cast<std::int8_t>(unit.scales[i])), 0};
    case iq4_xs:
      return {d * static_cast<float>(nonlinear_scale(unit, i)), 0};
    default:
      return {d, 0};
  }
}

int meaning(CodeLayout::Codes codes, std::uint8_t code) {
  switch (codes) {
    using enum CodeLayout::Codes;
    case unsigned_numbers:
      return code;
    case signed_bytes:
      return static_cast<std::int8_t>(code);
    case places:
      return nonlinear_codes[code];
  }
  std::unreachable();
}

}  // namespace

void split_unit(TensorType type, const std::byte* file, CodeUnit& unit) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(file);
  switch (type) {
    using enum TensorType;
    case q8_0:
      return split::q8_0(bytes, unit);
    case q4_0:
      return split::q4_0(bytes, unit);
    case q4_1:
      return split::q4_1(bytes, unit);
    case q5_0:
      return split::q5_0(bytes, unit);
    case q5_1:
      return split::q5_1(bytes, unit);
    case q2_k:
      return split::q2_k(bytes, unit);
    case q3_k:
      return split::q3_k(bytes, unit);
    case q4_k:
      return split::q4_k(bytes, unit);
    case q5_k:
      return split::q5_k(bytes, unit);
    case q6_k:
      return split::q6_k(bytes, unit);
    case iq4_nl:
      return split::iq4_nl(bytes, unit);
    case iq4_xs:
      return split::iq4_xs(bytes, unit);
    default:
      SPECTR_CHECK(code_layout(type).has_value());
  }
}

void unit_values(TensorType type, const CodeUnit& unit, float* out) {
  const CodeLayout layout = code_layout(type).value();
  for (int i = 0; i < layout.columns / layout.scale_columns; ++i) {
    const Scale scale = scale_of(type, unit, i);
    for (int j = i * layout.scale_columns; j < (i + 1) * layout.scale_columns; ++j) {
      const int c = meaning(layout.codes, unit.codes[j]);
      const float value = scale.factor * static_cast<float>(c - layout.offset);
      out[j] = layout.has_min ? value - scale.min : value;
    }
  }
}

}  // namespace spectr
