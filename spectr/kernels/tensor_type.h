#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace spectr {

/// Storage formats of tensors, numbered as in GGUF files.
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
  iq4_nl = 20,
  iq4_xs = 23,
  bf16 = 30,
};

/// A format stores `elements` consecutive numbers of a row in `bytes` bytes.
struct TensorFormat {
  TensorType type;
  std::string_view name;  ///< "Q4_K"
  std::size_t elements;
  std::size_t bytes;

  /// Whether numbers share scales: products with them round what they are multiplied with.
  bool is_quantised() const { return elements > 1; }
};

/// All of them.
std::span<const TensorFormat> tensor_formats();

/// The format with this number in a file, nullopt if it is not supported.
std::optional<TensorFormat> tensor_format(std::uint32_t type);

/// The format of a supported type.
const TensorFormat& format_of(TensorType type);

}  // namespace spectr
