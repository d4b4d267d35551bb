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

/// Reads one prompt: a text, or a list of token ids and texts. Only a text at the beginning gets a
/// beginning-of-text token, and with `ends` one at the end the ending token, if the vocabulary asks for them.
/// Throws ApiError that names `field`.
std::vector<Token> read_prompt(const JsonInput& prompt, const Tokenizer& tokenizer, std::string_view field,
                               bool ends = false);

/// Whether a list is one prompt, and not a list of prompts.
bool is_one_prompt(const JsonInput& list);

/// Reads a list of token ids, each inside the vocabulary. Throws ApiError that names `field`.
std::vector<Token> read_tokens(const JsonInput& list, const Vocabulary& vocabulary, std::string_view field);

}  // namespace spectr::server
