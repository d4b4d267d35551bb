#pragma once

#include <cstddef>
#include <span>

#include "spectr/kernels/tensor_type.h"

namespace spectr {

/// out[j] = number j of a row as it stands in a file.
/// Requires: out.size() a multiple of the format's elements, bytes.size() to match.
void dequantise(TensorType type, std::span<const std::byte> bytes, std::span<float> out);

}  // namespace spectr
