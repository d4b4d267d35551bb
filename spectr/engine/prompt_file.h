#pragma once

#include <cstddef>
#include <filesystem>

#include "spectr/base/result.h"
#include "spectr/engine/prefix_cache.h"
#include "spectr/nn/transformer.h"

namespace spectr {

/// Writes a sequence of the target to a file, with the identity of all that it depends on: the model's file,
/// the types of keys and values, the positions' frequencies and the build. An existing file is replaced as a
/// whole. Returns the bytes written. Fails if the file cannot be written.
Result<std::size_t> write_prompt_file(const std::filesystem::path& path, const Transformer& target,
                                      std::size_t context, const CachedSequence& sequence);

/// Reads the sequence of a file. Fails if it cannot be read, is truncated or damaged, or was written by
/// another build or for another model, context or type of keys and values.
Result<CachedSequence> read_prompt_file(const std::filesystem::path& path, const Transformer& target,
                                        std::size_t context);

}  // namespace spectr
