#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spectr/gguf/tensor_type.h"

namespace spectr::test {

/// Returns the bytes of a [rows, cols] tensor of any format: quants and small scales are random, the factors
/// of blocks are random around 2⁻⁸, and numbers of the plain formats are in [−1, 1].
std::vector<std::byte> random_tensor(TensorType type, std::size_t rows, std::size_t cols, std::uint32_t seed);

/// Returns true if byte `at` of a block of the format belongs to a factor.
bool is_factor(TensorType type, std::size_t at);

/// Returns normally distributed numbers.
std::vector<float> random_floats(std::size_t count, std::uint32_t seed);

/// Returns all supported formats.
std::vector<TensorType> all_tensor_types();

}  // namespace spectr::test
