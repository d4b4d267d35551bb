#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/server/requests/chat_prompt.h"
#include "apps/server/requests/fields.h"
#include "apps/server/requests/infill_request.h"
#include "spectr/decode/methods.h"
#include "spectr/engine/request.h"
#include "spectr/sampling/warp.h"

namespace spectr::server {

/// The APIs for completions.
enum class Api {
  native,           ///< llama.cpp's /completion
  completion,       ///< OpenAI's /v1/completions
  both,             ///< /completions; answers combine the two above
  chat,             ///< OpenAI's /v1/chat/completions
  messages,         ///< Anthropic's /v1/messages
  responses,        ///< OpenAI's /v1/responses
  infill,           ///< llama.cpp's /infill; answers are those of /completion
  ollama_chat,      ///< Ollama's /api/chat
  ollama_generate,  ///< Ollama's /api/generate
};

/// Returns true if answers have the format of llama.cpp's /completion.
constexpr bool is_native(Api api) {
  return api == Api::native || api == Api::infill;
}

/// Returns true if the API is Ollama's.
constexpr bool is_ollama(Api api) {
  return api == Api::ollama_chat || api == Api::ollama_generate;
}

/// Defaults for fields that a body does not have.
struct RequestDefaults {
  WarpOptions sampling;
  std::optional<std::size_t> limit;        ///< maximum tokens; none: until EOS or the context is full
  MethodRequest speculative;               ///< used if `speculative` is absent
  std::optional<std::uint64_t> seed = {};  ///< none: a random one
  bool splits_reasoning = true;
  std::optional<ReasoningLimit> reasoning_limit = {};
  bool suffix_first = false;  ///< the suffix precedes the prefix in infill prompts
};

/// A request body with validated fields. Prompts and token ids are not validated yet.
struct GenerationRequest {
  Api api = Api::native;
  JsonInput prompt;                     ///< text, tokens or a list of these; not for conversations
  ChatRequest chat;                     ///< for conversations
  std::optional<InfillRequest> infill;  ///< for /infill, or with only a suffix: `prompt` is the prefix
  bool suffix_first = false;            ///< the suffix precedes the prefix in infill prompts
  WarpOptions warp;
  JsonInput logit_bias;
  std::vector<std::string> stop_words;
  std::optional<std::size_t> limit;  ///< maximum tokens; none: until EOS or the context is full
  std::optional<std::uint64_t> seed;
  std::size_t min_indent = 0;                          ///< as in Request
  std::optional<std::chrono::milliseconds> line_time;  ///< as in Request
  std::size_t n = 1;                                   ///< completions per prompt
  std::optional<std::size_t> alternatives;   ///< report log-probabilities with this many alternatives
  bool sampled_alternatives = false;         ///< use the sampled distribution for these
  bool progress = false;                     ///< stream the progress of prefill
  bool details = false;                      ///< report each token's source and probabilities
  bool tokens = false;                       ///< report token ids
  bool echo = false;                         ///< the completion begins with the prompt
  std::vector<std::string> response_fields;  ///< paths of members to return; empty: all
  bool stream = false;
  bool stream_usage = false;
  bool ignore_eos = false;
  bool cache_prompt = true;
  bool splits_reasoning = true;                   ///< in chat: report reasoning separately
  std::optional<ReasoningLimit> reasoning_limit;  ///< for conversations
  std::optional<Constraint> constraint;           ///< on the completion
  MethodRequest speculative;
  bool only_loads = false;  ///< generate nothing; Ollama's clients load models this way

  /// Returns true if the request has a conversation instead of prompts.
  bool is_conversation() const { return !chat.messages.empty(); }

  /// Throws ApiError naming the field.
  static GenerationRequest read(const JsonInput& body, Api api, const RequestDefaults& defaults);

  /// Returns a request that consists of the defaults.
  static GenerationRequest of(Api api, const RequestDefaults& defaults);
};

/// Reads sampling fields: filters, penalties, biases, seed, limits and stop words. Throws ApiError.
void read_sampling(Fields& fields, GenerationRequest& request);

/// Reads `logprobs` and `top_logprobs` of chat completions. Throws ApiError.
void read_top_logprobs(Fields& fields, GenerationRequest& request);

/// Returns whether one of llama.cpp's reasoning formats splits off reasoning: false for none, true for auto
/// and deepseek, nothing for an unknown format.
std::optional<bool> splits_reasoning(std::string_view format);

}  // namespace spectr::server
