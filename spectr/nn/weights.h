#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "spectr/base/thread_pool.h"
#include "spectr/gguf/gguf.h"
#include "spectr/nn/model_spec.h"
#include "spectr/nn/ops.h"

namespace spectr {

/// Told how much of all is done.
using LoadingProgress = std::function<void(std::uint64_t done, std::uint64_t all)>;

/// Gives the weights of a model from its file to a backend's operations. `files` are the model's file and, of
/// a drafter, its target's. The operations get the file's own bytes where the spec has them as they stand
/// there, else a copy of another type, of chosen rows or of some columns; `pool` shares that work. `progress`
/// is told how many bytes of the weights in the file, of all, have been taken over. Returns the copies that
/// the operations refer to: these and the file must outlive them. Bytes of the file that they do not refer to
/// need no memory afterwards. Throws std::bad_alloc.
std::vector<std::vector<std::byte>> upload_weights(std::span<const Gguf* const> files, const ModelSpec& spec,
                                                   Ops& ops, ThreadPool* pool,
                                                   const LoadingProgress& progress = {});

/// Row `row` of a tensor whose rows have out.size() numbers, whatever its type.
void read_numbers(const GgufTensor& tensor, std::size_t row, std::span<float> out);

}  // namespace spectr
