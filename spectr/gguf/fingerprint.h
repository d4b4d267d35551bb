#pragma once

#include <cstdint>

#include "spectr/gguf/gguf.h"

namespace spectr {

/// Tells a model's file from others: a hash of its metadata, its tensors' names and shapes, and some of their
/// numbers.
std::uint64_t fingerprint_of(const Gguf& file);

}  // namespace spectr
