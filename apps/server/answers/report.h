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

/// New parts of an answer: text, and the calls in it.
struct AnswerDelta : TextDelta {
  std::vector<ToolCall> calls = {};
  std::size_t first_call = 0;  ///< index of the first of these calls in the answer

  void append(AnswerDelta later);
};

/// An answer that is complete.
struct FinishedText {
  AnswerDelta all;
  CompletionResult result;
};

// What all ways of answering tell, each as a JSON object.

/// Returns the number of tokens of all prompts.
std::size_t prompt_tokens_of(const PreparedRequest& request);
/// Reports prompt_tokens, completion_tokens, total_tokens and prompt_tokens_details of all completions. Every
/// prompt is counted once: a token of it is cached if none of its completions computed it.
Json usage_of(const PreparedRequest& request, std::span<const CompletionResult> results);
/// Reports tokens, times and speeds of the completions from `first` on together; draft_n and draft_n_accepted
/// if anything was drafted. Times of completions that overlap count once. The last token of a prompt is
/// computed with the first block, so neither the time nor the speed of prompts includes it.
Json timings_of(const PreparedRequest& request, std::span<const CompletionResult> results,
                std::size_t first = 0);
/// Reports how speculation went in completions of one request, with the number of blocks per accepted length.
Json speculation_of(const DecodingSettings& decoding, std::span<const CompletionResult> results);
/// The method, its plan and tree where it has them, and the K and L of its blocks: auto chooses these itself,
/// and without a draft model there are none.
Json speculation_settings(const MethodRule& method, const MethodOptions& settings);
/// Ids.
Json tokens_of(const TextDelta& delta);
/// Where each token came from, its probabilities, its block and when that was done; its bytes where they are
/// no text by themselves.
Json details_of(const TextDelta& delta);
/// A log-probability as {"logprob"}, or as llama.cpp has it after sampling, {"prob"}.
Json probability_of(double log_probability, bool sampled);
/// How logits become the distribution, by the names of a request's fields; without biases.
Json sampling_of(const WarpOptions& sampling);
/// Whether the bytes are whole characters.
bool is_text(std::string_view bytes);
/// A token's bytes as numbers.
Json bytes_of(const std::string& piece);

/// Why a text that has ended cannot be told; none: it can.
std::optional<ApiError> failure_of(const CompletionResult& result);
/// Why a text ended, as OpenAI says it: "stop", "tool_calls" (it ended by itself and `called` a tool) or
/// "length"; or "timeout" or "cancelled", where it was given up.
std::string_view finish_reason(const CompletionResult& result, bool called = false);

}  // namespace spectr::server
