#pragma once

#include <cstddef>
#include <vector>

#include "spectr/gguf/tensor_type.h"

namespace spectr::test {

/// Sizes of a model with latent attention, and the format of the matrices that each of its heads has.
struct LatentModel {
  TensorType type;
  std::size_t heads, rank, rotated, q_dim, value_dim;
};

/// Its file: two layers with dense blocks, of random numbers.
std::vector<std::byte> file_of(const LatentModel& model);

}  // namespace spectr::test
