#pragma once

#include <string>
#include <vector>

#include "tests/support/gguf_writer.h"

namespace spectr {

/// The sizes of a tiny_model(), or others that its metadata were set to.
struct TinyShape {
  std::size_t layers = 1, heads = 2, kv_heads = 2, head_dim = 4, ffn = 16, context = 64, vocabulary = 4;
  std::size_t width = 8, experts = 4;
};

/// All tensors that a model of this architecture must have, full of zeros.
std::vector<WrittenTensor> tiny_tensors(const std::string& architecture, const TinyShape& shape = {});

/// The file with these tensors and no others.
GgufWriter with_tensors(GgufWriter file, const std::vector<WrittenTensor>& tensors);

}  // namespace spectr
