#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/json.h"
#include "apps/server/answer.h"
#include "apps/server/api_error.h"
#include "apps/server/tasks.h"

namespace spectr::server {

/// A text that is complete.
struct FinishedText {
  Chunk all;
  Outcome outcome;
};

// What all ways of answering tell, each as a JSON object.

/// Tokens of all prompts, each of which has `n` tasks.
std::size_t prompt_tokens_of(std::span<const Task> tasks, std::size_t n);
/// prompt_tokens, completion_tokens, total_tokens, prompt_tokens_details. Every prompt has `n` tasks, and is
/// counted once: a token of it is cached where none of its texts had to compute it.
Json usage_of(std::span<const Task> tasks, std::size_t n, std::span<const Outcome> outcomes);
/// Tokens, times and speeds of some texts together; draft_n and draft_n_accepted where anything was drafted.
/// A time is that in which at least one of the texts was at it. The last token of a prompt is computed with
/// the text's first block, so its time is not among that of prompts, and their speed leaves it out.
Json timings_of(std::span<const Task> tasks, std::span<const Outcome> outcomes);
/// How speculation went in some texts of one method, with the number of blocks per accepted length.
Json speculation_of(const Task& task, std::span<const Outcome> outcomes);
/// The method, its plan and tree where it has them, and the K and L of its blocks: auto chooses these itself,
/// and without a draft model there are none.
Json speculation_settings(const MethodRule& method, const MethodOptions& settings);
/// Ids.
Json tokens_of(const Chunk& chunk);
/// Where each token came from, its probabilities, its block and when that was done; its bytes where they are
/// no text by themselves.
Json details_of(const Chunk& chunk);
/// A log-probability as {"logprob"}, or as llama.cpp has it after sampling, {"prob"}.
Json probability_of(double log_probability, bool sampled);
/// How logits become the distribution, by the names of a request's fields; without biases.
Json sampling_of(const WarpOptions& sampling);
/// Whether the bytes are whole characters.
bool is_text(std::string_view bytes);
/// A token's bytes as numbers.
Json bytes_of(const std::string& piece);

/// Why a text that has ended cannot be told; none: it can.
std::optional<ApiError> failure_of(const Outcome& outcome);
/// Why a text ended, as OpenAI says it: "stop" or "length"; or "timeout" or "cancelled", where it was given
/// up.
std::string_view finish_reason(const Outcome& outcome);

}  // namespace spectr::server
