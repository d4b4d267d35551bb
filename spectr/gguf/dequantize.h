#pragma once

#include <cstddef>
#include <span>

#include "spectr/gguf/tensor_type.h"

namespace spectr {

/// out[j] = number j of a row as it stands in a file.
/// Requires: the type is supported, out.size() a multiple of the format's elements, bytes.size() to match.
void dequantize(TensorType type, std::span<const std::byte> bytes, std::span<float> out);

}  // namespace spectr
