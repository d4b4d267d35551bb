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

/// The APIs by which clients ask for a text.
enum class Api {
  native,           ///< llama.cpp's /completion
  completion,       ///< OpenAI's /v1/completions
  both,             ///< /completions, whose answers have what either of the two above reports
  chat,             ///< OpenAI's /v1/chat/completions
  messages,         ///< Anthropic's /v1/messages
  responses,        ///< OpenAI's /v1/responses
  infill,           ///< llama.cpp's /infill, which is answered as /completion
  ollama_chat,      ///< Ollama's /api/chat
  ollama_generate,  ///< Ollama's /api/generate
};

/// Whether answers are those of llama.cpp's /completion.
constexpr bool is_native(Api api) {
  return api == Api::native || api == Api::infill;
}

/// Whether an API is Ollama's.
constexpr bool is_ollama(Api api) {
  return api == Api::ollama_chat || api == Api::ollama_generate;
}

/// What a body gets that does not say.
struct RequestDefaults {
  WarpOptions sampling;
  std::optional<std::size_t> limit;        ///< max tokens; none: until text or context ends
  MethodRequest speculative;               ///< where `speculative` is not there at all
  std::optional<std::uint64_t> seed = {};  ///< none: a random one
  bool splits_reasoning = true;
  std::optional<ReasoningLimit> reasoning_limit = {};
  bool suffix_first = false;  ///< infill prompts begin with the suffix
};

/// What a body asks for, checked field by field; prompts and token ids still have to be.
struct GenerationRequest {
  Api api = Api::native;
  JsonInput prompt;                     ///< text, tokens or a list of such; none of a conversation
  ChatRequest chat;                     ///< of a conversation
  std::optional<InfillRequest> infill;  ///< of /infill, or with the suffix alone: then `prompt` is the prefix
  bool suffix_first = false;            ///< infill prompts begin with the suffix
  WarpOptions warp;
  JsonInput logit_bias;
  std::vector<std::string> stop_words;
  std::optional<std::size_t> limit;  ///< max tokens; none: until text or context ends
  std::optional<std::uint64_t> seed;
  std::size_t min_indent = 0;                          ///< as in Request
  std::optional<std::chrono::milliseconds> line_time;  ///< as in Request
  std::size_t n = 1;                                   ///< texts per prompt
  std::optional<std::size_t> alternatives;   ///< log-probabilities are told, with so many alternatives
  bool sampled_alternatives = false;         ///< these are of the distribution that is sampled
  bool progress = false;                     ///< a stream tells how far its prompt has been read
  bool details = false;                      ///< tell where each token came from and its probabilities
  bool tokens = false;                       ///< tell ids
  bool echo = false;                         ///< the text begins with the prompt's
  std::vector<std::string> response_fields;  ///< paths of what the answer has; empty: all
  bool stream = false;
  bool stream_usage = false;
  bool ignore_eos = false;
  bool cache_prompt = true;
  bool splits_reasoning = true;                   ///< in chat: thoughts are told apart
  std::optional<ReasoningLimit> reasoning_limit;  ///< of conversations
  std::optional<Constraint> constraint;           ///< on the text
  MethodRequest speculative;
  bool only_loads = false;  ///< nothing is generated: Ollama's clients have models loaded so

  /// Whether it holds a conversation instead of prompts.
  bool is_conversation() const { return !chat.messages.empty(); }

  /// Throws ApiError that names the field.
  static GenerationRequest read(const JsonInput& body, Api api, const RequestDefaults& defaults);

  /// Returns a request with the defaults and nothing else.
  static GenerationRequest of(Api api, const RequestDefaults& defaults);
};

/// Reads what chooses tokens: filters, penalties, biases, the seed, limits and stop words. Throws ApiError.
void read_sampling(Fields& fields, GenerationRequest& request);

/// Reads `logprobs` and `top_logprobs` as conversations have them. Throws ApiError.
void read_top_logprobs(Fields& fields, GenerationRequest& request);

/// Whether a format of llama.cpp's tells thoughts apart: none does not, auto and deepseek do. Nothing: there
/// is no such format here.
std::optional<bool> splits_reasoning(std::string_view format);

}  // namespace spectr::server
