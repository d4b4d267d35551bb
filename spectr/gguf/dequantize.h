#pragma once

#include <cstddef>
#include <span>

#include "spectr/gguf/tensor_type.h"

namespace spectr {

/// Decodes a row's numbers as stored in a file: out[j] = number j. Requires: a supported type; out.size() is
/// a multiple of the format's elements, and bytes.size() matches it.
void dequantize(TensorType type, std::span<const std::byte> bytes, std::span<float> out);

}  // namespace spectr
