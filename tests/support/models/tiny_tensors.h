#pragma once

#include <string>
#include <vector>

#include "tests/support/gguf_writer.h"

namespace spectr {

/// The sizes of a tiny_model(), or those that its metadata was changed to.
struct TinyShape {
  std::size_t layers = 1, heads = 2, kv_heads = 2, head_dim = 4, ffn = 16, context = 64, vocabulary = 4;
  std::size_t width = 8, experts = 4;
};

/// Returns all tensors that a model of this architecture must have, filled with zeros.
std::vector<WrittenTensor> tiny_tensors(const std::string& architecture, const TinyShape& shape = {});

/// Returns the file with exactly these tensors.
GgufWriter with_tensors(GgufWriter file, const std::vector<WrittenTensor>& tensors);

}  // namespace spectr
