#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/server/requests/chat_prompt.h"
#include "apps/server/requests/fields.h"
#include "spectr/decode/methods.h"
#include "spectr/sampling/warp.h"

namespace spectr::server {

/// The APIs by which clients ask for a text.
enum class Api {
  native,      ///< llama.cpp's /completion
  completion,  ///< OpenAI's /v1/completions
  both,        ///< /completions, whose answers have what either of the two above reports
  chat,        ///< OpenAI's /v1/chat/completions
  messages,    ///< Anthropic's /v1/messages
  responses,   ///< OpenAI's /v1/responses
};

/// Whether requests hold a conversation instead of prompts.
constexpr bool is_conversation(Api api) {
  return api == Api::chat || api == Api::messages || api == Api::responses;
}

/// What a body gets that does not say.
struct RequestDefaults {
  WarpOptions sampling;
  std::optional<std::size_t> limit;        ///< max tokens; none: until text or context ends
  MethodRequest speculative;               ///< where `speculative` is not there at all
  std::optional<std::uint64_t> seed = {};  ///< none: a random one
  bool splits_reasoning = true;
};

/// What a body asks for, checked field by field; prompts and token ids still have to be.
struct GenerationRequest {
  Api api = Api::native;
  JsonInput prompt;  ///< of native and completion: text, tokens or a list of such
  ChatRequest chat;  ///< of conversations
  WarpOptions warp;
  JsonInput logit_bias;
  std::vector<std::string> stop_words;
  std::optional<std::size_t> limit;  ///< max tokens; none: until text or context ends
  std::optional<std::uint64_t> seed;
  std::size_t n = 1;                        ///< texts per prompt
  std::optional<std::size_t> alternatives;  ///< log-probabilities are told, with so many alternatives
  bool sampled_alternatives = false;        ///< these are of the distribution that is sampled
  bool progress = false;                    ///< a stream tells how far its prompt has been read
  bool details = false;                     ///< tell where each token came from and its probabilities
  bool tokens = false;                      ///< tell ids
  bool stream = false;
  bool stream_usage = false;
  bool ignore_eos = false;
  bool cache_prompt = true;
  bool splits_reasoning = true;  ///< in chat: thoughts are told apart
  MethodRequest speculative;

  /// Throws ApiError that names the field.
  static GenerationRequest read(const JsonInput& body, Api api, const RequestDefaults& defaults);

  /// Returns a request with the defaults and nothing else.
  static GenerationRequest of(Api api, const RequestDefaults& defaults);
};

/// Whether a format of llama.cpp's tells thoughts apart: none does not, auto and deepseek do. Nothing: there
/// is no such format here.
std::optional<bool> splits_reasoning(std::string_view format);

}  // namespace spectr::server
