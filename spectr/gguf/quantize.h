#pragma once

#include <cstddef>
#include <span>

#include "spectr/gguf/tensor_type.h"

namespace spectr {

/// Returns the formats that quantize() writes.
std::span<const TensorType> quantizable_types();

/// Encodes a row's numbers in a format, with the same results as llama.cpp's reference quantizer. Blocks of
/// 32 numbers share a scale:
///
///   Q8_0        d = max |x| / 127
///   Q4_0, Q5_0  d = x / −8, x / −16, where x has the largest magnitude
///   Q4_1, Q5_1  d = (max x − min x) / 15, / 31, and min x
///
/// Plain formats round to the nearest number, ties to even. Requires: a type of quantizable_types(), finite
/// numbers, x.size() is a multiple of the format's elements, and out.size() matches it.
void quantize(TensorType type, std::span<const float> x, std::span<std::byte> out);

}  // namespace spectr
