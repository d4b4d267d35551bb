#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace spectr {

/// The storage formats of tensors, with their numbers in GGUF files. Those listed in quant/formats.h are
/// supported; of the others, only the sizes are known (stored_format.h). Missing numbers belong to formats
/// that are no longer written, or that exist only in memory.
enum class TensorType : std::uint32_t {
  f32 = 0,
  f16 = 1,
  q4_0 = 2,
  q4_1 = 3,
  q5_0 = 6,
  q5_1 = 7,
  q8_0 = 8,
  q2_k = 10,
  q3_k = 11,
  q4_k = 12,
  q5_k = 13,
  q6_k = 14,
  iq2_xxs = 16,
  iq2_xs = 17,
  iq3_xxs = 18,
  iq1_s = 19,
  iq4_nl = 20,
  iq3_s = 21,
  iq2_s = 22,
  iq4_xs = 23,
  i8 = 24,
  i16 = 25,
  i32 = 26,
  i64 = 27,
  f64 = 28,
  iq1_m = 29,
  bf16 = 30,
  tq1_0 = 34,
  tq2_0 = 35,
  mxfp4 = 39,
  nvfp4 = 40,
  q1_0 = 41,
  q2_0 = 42,
};

/// A format stores `elements` consecutive numbers of a row in `bytes` bytes.
struct TensorFormat {
  TensorType type;
  std::string_view name;  ///< "Q4_K"
  std::size_t elements;
  std::size_t bytes;

  /// True if numbers share scales. Rows of x are rounded before they are multiplied by such numbers.
  bool is_quantized() const { return elements > 1; }
};

/// Returns all supported formats, in the order of their numbers.
std::span<const TensorFormat> tensor_formats();

/// Returns the format with this number in files; nullopt if it is not supported.
std::optional<TensorFormat> tensor_format(std::uint32_t type);

/// Returns the format of a type. Requires: the type is supported.
const TensorFormat& format_of(TensorType type);

}  // namespace spectr
