#pragma once

#include <string>

#include "spectr/gguf/gguf.h"

namespace spectr::cli {

/// Summarizes a model file in a few lines: whether it is supported, or why not; the memory of its weights and
/// KV cache; which draft models fit.
std::string summary_of(const Gguf& file);

}  // namespace spectr::cli
