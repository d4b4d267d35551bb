#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "apps/server/requests/generation_request.h"
#include "spectr/base/token.h"
#include "spectr/engine/engine.h"

namespace spectr::server {

/// Encodes the prompts of a request and has the engine check it. Throws ApiError. A request without a seed is
/// decoded with the settings that suit the load; with a seed its completions depend on nothing else.
std::shared_ptr<const PreparedRequest> prepare(const GenerationRequest& request, const Engine& engine);

/// Reads a list of token ids, each inside the vocabulary. Throws ApiError that names `field`.
std::vector<Token> read_tokens(const JsonInput& list, const Vocabulary& vocabulary, std::string_view field);

}  // namespace spectr::server
