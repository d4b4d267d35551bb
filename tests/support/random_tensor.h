#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spectr/gguf/tensor_type.h"

namespace spectr::test {

/// Bytes of a [rows, cols] tensor of any format: all quants and small scales random, the factors of blocks
/// random around 2⁻⁸, numbers of the plain formats in [−1, 1].
std::vector<std::byte> random_tensor(TensorType type, std::size_t rows, std::size_t cols, std::uint32_t seed);

/// Whether byte `at` of a block of the format belongs to a factor.
bool is_factor(TensorType type, std::size_t at);

/// Numbers of the normal distribution.
std::vector<float> random_floats(std::size_t count, std::uint32_t seed);

/// All supported formats.
std::vector<TensorType> all_tensor_types();

}  // namespace spectr::test
