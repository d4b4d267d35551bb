#pragma once

#include <cstddef>
#include <vector>

#include "spectr/gguf/tensor_type.h"

namespace spectr::test {

/// The sizes of a model with latent attention, and the format of its per-head matrices.
struct LatentModel {
  TensorType type;
  std::size_t heads, rank, rotated, q_dim, value_dim;
};

/// Returns the model's file: two layers with dense blocks, with random weights.
std::vector<std::byte> file_of(const LatentModel& model);

}  // namespace spectr::test
