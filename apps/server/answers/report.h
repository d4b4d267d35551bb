#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/server/api_error.h"
#include "apps/support/json.h"
#include "spectr/engine/completion.h"
#include "spectr/engine/request.h"
#include "spectr/text/chat/chat_message.h"

namespace spectr::server {

/// New parts of an answer: text and tool calls.
struct AnswerDelta : TextDelta {
  std::vector<ToolCall> calls = {};
  std::size_t first_call = 0;  ///< index of the first of these calls in the answer

  void append(AnswerDelta later);
};

/// A complete answer.
struct FinishedText {
  AnswerDelta all;
  CompletionResult result;
};

// Reports that are common to all answer formats, each as a JSON object.

/// Returns the number of tokens of all prompts.
std::size_t prompt_tokens_of(const PreparedRequest& request);
/// Reports prompt_tokens, completion_tokens, total_tokens and the details of both of all completions. Every
/// prompt is counted once: a token of it is cached if none of its completions computed it.
Json usage_of(const PreparedRequest& request, std::span<const CompletionResult> results);
/// Reports tokens, times and speeds of the completions from `first` on together; draft_n and draft_n_accepted
/// if anything was drafted. Times of completions that overlap count once. The last token of a prompt is
/// computed with the first block, so neither the time nor the speed of prompts includes it.
Json timings_of(const PreparedRequest& request, std::span<const CompletionResult> results,
                std::size_t first = 0);
/// Reports statistics of speculation in the completions of one request, with block counts by accepted length.
Json speculation_of(const DecodingSettings& decoding, std::span<const CompletionResult> results);
/// Reports the method, its plan and tree if it has them, its settings, and K and L. K and L are omitted for
/// auto, which chooses them itself, and for methods that do not draft.
Json speculation_settings(const MethodRule& method, const MethodOptions& settings);
/// Returns the ids of the tokens.
Json tokens_of(const TextDelta& delta);
/// Reports each token's source, probabilities, block and completion time, and its bytes if they are
/// not valid text.
Json details_of(const TextDelta& delta);
/// Returns a log-probability as {"logprob"} or, for sampled distributions as in llama.cpp, as {"prob"}.
Json probability_of(double log_probability, bool sampled);
/// Reports the sampling parameters by the names of request fields, without biases.
Json sampling_of(const WarpOptions& sampling);
/// Returns true if the bytes are complete UTF-8 characters.
bool is_text(std::string_view bytes);
/// Returns a token's bytes as numbers.
Json bytes_of(const std::string& piece);

/// Returns why a completion that has ended must be reported as an error, or nothing if it succeeded.
std::optional<ApiError> failure_of(const CompletionResult& result);
/// Returns OpenAI's finish reason: "stop", "tool_calls" (it ended by itself and `called` a tool) or "length";
/// or "timeout" or "cancelled" if it was aborted.
std::string_view finish_reason(const CompletionResult& result, bool called = false);

}  // namespace spectr::server
