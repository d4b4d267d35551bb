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

/// Reports progress: bytes done so far, and the total.
using LoadingProgress = std::function<void(std::uint64_t done, std::uint64_t all)>;

/// Uploads the weights of a model from its file to a backend's operations. `files` are the model's file and,
/// for a drafter, its target's. The operations get the file's own bytes if the spec takes a weight as it is
/// stored; otherwise they get a copy with another type, chosen rows or some columns. `pool` shares this work.
/// `progress` reports bytes of the weights in the file. Returns the copies that the operations refer to:
/// these and the file must outlive the operations. Bytes of the file without such references need no memory
/// afterwards. Throws std::bad_alloc.
std::vector<std::vector<std::byte>> upload_weights(std::span<const Gguf* const> files, const ModelSpec& spec,
                                                   Ops& ops, ThreadPool* pool,
                                                   const LoadingProgress& progress = {});

/// Reads row `row` of a tensor of any type whose rows have out.size() elements.
void read_numbers(const GgufTensor& tensor, std::size_t row, std::span<float> out);

}  // namespace spectr
