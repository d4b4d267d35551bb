#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "spectr/gguf/tensor_type.h"

namespace spectr::card {

/// The shape of a random Llama. The defaults are those of 1.1 billion weights.
struct LlamaShape {
  std::size_t width = 2048, layers = 22, heads = 32, kv_heads = 4, ffn = 5632, vocabulary = 32000,
              context = 8192;

  std::size_t head_dim() const { return width / heads; }
};

/// The formats of a model's matrices.
struct LlamaFormats {
  std::string name;  ///< "Q4_K_M"
  TensorType most;
  TensorType head;  ///< of the head
  TensorType some;  ///< of values and of the FFN's output in every third layer
};

/// Writes a model with random matrices, the same in all layers. A model with fewer layers drafts well for one
/// with more, because the norms let layers add little to the stream: both have nearly the same distributions.
/// Throws if the file cannot be written.
void write_random_llama(const std::filesystem::path& file, const LlamaShape& shape,
                        const LlamaFormats& formats);

}  // namespace spectr::card
