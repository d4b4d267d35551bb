#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/server/generation_request.h"
#include "apps/server/model_set.h"
#include "apps/server/slots.h"
#include "apps/server/task.h"

namespace spectr::server {

/// The texts that a request asks for, n per prompt; all share the seed, and their number makes them differ.
struct Tasks {
  std::vector<Task> tasks;
  std::uint64_t seed;
};

/// Everything that a request needs of the models is checked here. Throws ApiError.
/// context: tokens of prompt and text together.
Tasks make_tasks(const GenerationRequest& request, const ModelSet& models, std::size_t context);

/// Error: a block of it may have more nodes than a slot has room for. left: tokens that a text may have.
Result<void> check_block(const Decoder& decoder, std::size_t left = Slots::most_nodes);

/// The ids of a list, each inside the vocabulary. Throws ApiError that names `field`.
std::vector<Token> read_tokens(const JsonInput& list, const Vocabulary& vocabulary, std::string_view field);

}  // namespace spectr::server
