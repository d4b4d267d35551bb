#pragma once

#include <chrono>
#include <ctime>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/server/answers/report.h"
#include "apps/server/requests/generation_request.h"
#include "spectr/text/tokenizer.h"

namespace spectr::server {

/// Metadata of an answer.
struct AnswerHead {
  const GenerationRequest& request;
  const Tokenizer& tokenizer;
  const PreparedRequest& prepared;
  std::string id;
  std::time_t created;
  std::string model;
  std::chrono::steady_clock::time_point asked = {};  ///< arrival of the request
  std::chrono::steady_clock::duration waited{0};     ///< for the model to be loaded

  /// Returns the log-probability that the request asks for: under the model, or under the distribution
  /// that was sampled.
  double log_probability(const TokenReport& report) const;
  /// Returns the log-probabilities of tokens and of their alternatives in the format of chat completions.
  Json token_probabilities(const TextDelta& delta) const;
};

using Events = std::vector<Json>;

/// The framing of a stream's events.
enum class Framing {
  events,        ///< server-sent events
  named_events,  ///< server-sent events named by their member "type"
  lines,         ///< one JSON object per line
};

/// Formats an error for an API.
Json error_json(const ApiError& error, Api api);

/// Formats the answers of one API. Belongs to one answer.
class Format {
 public:
  virtual ~Format() = default;

  /// Returns the events that precede all others of a choice; may be empty.
  virtual Events opening(std::size_t choice) = 0;
  /// Returns the events of new parts of an answer, at least one.
  virtual Events chunk(std::size_t choice, const AnswerDelta& delta) = 0;
  /// Returns the event that reports how much of a prompt has been prefilled.
  Json progress(std::size_t choice, const PromptProgress& progress);
  /// Returns the last events of an answer. `called`: the answer contains tool calls.
  virtual Events end(std::size_t choice, const CompletionResult& result, bool called) = 0;
  /// Returns the event of an answer that fails.
  virtual Json failure(const ApiError& error) const { return error.json(); }
  virtual Framing framing() const { return Framing::events; }
  /// Returns the final usage event, if the request asked for it.
  virtual std::optional<Json> usage(std::span<const CompletionResult> results) const = 0;
  /// Returns true if "[DONE]" ends the stream.
  virtual bool says_done() const { return true; }
  /// Returns the complete answer to a request that does not stream.
  virtual Json whole(std::span<const FinishedText> texts) const = 0;
};

/// Creates the format of a request's API. The head must outlive the format.
std::unique_ptr<Format> make_format(const AnswerHead& head);
std::unique_ptr<Format> openai_format(const AnswerHead& head);
std::unique_ptr<Format> native_format(const AnswerHead& head);
/// Format of /v1/messages.
std::unique_ptr<Format> messages_format(const AnswerHead& head);
/// Format of /v1/responses.
std::unique_ptr<Format> responses_format(const AnswerHead& head);
/// Format of /api/chat and /api/generate.
std::unique_ptr<Format> ollama_format(const AnswerHead& head);
/// Format of /completions: OpenAI's members and additionally those that only llama.cpp has.
std::unique_ptr<Format> bilingual_format(const AnswerHead& head);

}  // namespace spectr::server
