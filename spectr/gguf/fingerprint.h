#pragma once

#include <cstdint>

#include "spectr/gguf/gguf.h"

namespace spectr {

/// Identifies a model's file by a hash of its metadata, its tensors' names and shapes, and a sample of their
/// bytes.
std::uint64_t fingerprint_of(const Gguf& file);

}  // namespace spectr
