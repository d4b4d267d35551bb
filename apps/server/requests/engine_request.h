#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "apps/server/requests/generation_request.h"
#include "spectr/base/token.h"
#include "spectr/engine/engine.h"

namespace spectr::server {

/// Encodes the prompts of a request and validates it with the engine. Without a seed, decoding settings adapt
/// to the load; with a seed, completions depend on the request only. Throws ApiError.
std::shared_ptr<const PreparedRequest> prepare(const GenerationRequest& request, const Engine& engine);

/// Reads one prompt: a text, or a list of token ids and texts. Only an initial text gets a BOS token
/// and, with `ends`, only a final text an EOS token, if the vocabulary requires them. Throws ApiError
/// naming `field`.
std::vector<Token> read_prompt(const JsonInput& prompt, const Tokenizer& tokenizer, std::string_view field,
                               bool ends = false);

/// Returns true if a list is a single prompt rather than a list of prompts.
bool is_one_prompt(const JsonInput& list);

/// Reads a list of token ids within the vocabulary. Throws ApiError naming `field`.
std::vector<Token> read_tokens(const JsonInput& list, const Vocabulary& vocabulary, std::string_view field);

}  // namespace spectr::server
