#pragma once

#include <cstddef>
#include <span>

#include "spectr/gguf/tensor_type.h"

namespace spectr {

/// The formats that quantize() writes.
std::span<const TensorType> quantizable_types();

/// The bytes of a row's numbers in a format, as llama.cpp's reference quantizer writes them: by blocks of 32
/// with one scale,
///
///   Q8_0        d = max |x| / 127
///   Q4_0, Q5_0  d = x / −8, x / −16 of the x of the largest size
///   Q4_1, Q5_1  d = (max x − min x) / 15, / 31, and min x
///
/// and of the plain formats the nearest numbers, of two the even one. Requires: a type of
/// quantizable_types(), finite numbers, x.size() a multiple of the format's elements, out.size() to match.
void quantize(TensorType type, std::span<const float> x, std::span<std::byte> out);

}  // namespace spectr
