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

/// What an answer says of itself.
struct AnswerHead {
  const GenerationRequest& request;
  const Tokenizer& tokenizer;
  const PreparedRequest& prepared;
  std::string id;
  std::time_t created;
  std::string model;
  std::chrono::steady_clock::time_point asked = {};  ///< when the request came

  /// What the request wants to know of a token: its log-probability under the model, or under the
  /// distribution that was sampled.
  double log_probability(const TokenReport& report) const;
  /// The log-probabilities of tokens and of their alternatives, as answers to conversations have them.
  Json token_probabilities(const TextDelta& delta) const;
};

using Events = std::vector<Json>;

/// How the events of a stream are sent.
enum class Framing {
  events,        ///< server-sent events
  named_events,  ///< the same, named by their member "type"
  lines,         ///< a JSON object a line
};

/// An error as the API words it.
Json error_json(const ApiError& error, Api api);

/// How one API tells texts. Belongs to one answer.
class Format {
 public:
  virtual ~Format() = default;

  /// The events that come before all others of a choice, where the API has some.
  virtual Events opening(std::size_t choice) = 0;
  /// Returns the events of new parts of an answer, at least one.
  virtual Events chunk(std::size_t choice, const AnswerDelta& delta) = 0;
  /// A streamed event: how far the prompt of a text has been read.
  Json progress(std::size_t choice, const PromptProgress& progress);
  /// The last events of an answer; `called`: it has calls.
  virtual Events end(std::size_t choice, const CompletionResult& result, bool called) = 0;
  /// The event of an answer that fails.
  virtual Json failure(const ApiError& error) const { return error.json(); }
  virtual Framing framing() const { return Framing::events; }
  /// An event after the last text, for those who asked for the usage.
  virtual std::optional<Json> usage(std::span<const CompletionResult> results) const = 0;
  /// Whether "[DONE]" ends the stream.
  virtual bool says_done() const { return true; }
  /// The answer that is not streamed.
  virtual Json whole(std::span<const FinishedText> texts) const = 0;
};

/// The head must outlive the format.
std::unique_ptr<Format> make_format(const AnswerHead& head);
std::unique_ptr<Format> openai_format(const AnswerHead& head);
std::unique_ptr<Format> native_format(const AnswerHead& head);
/// /v1/messages.
std::unique_ptr<Format> messages_format(const AnswerHead& head);
/// /v1/responses.
std::unique_ptr<Format> responses_format(const AnswerHead& head);
/// /api/chat and /api/generate.
std::unique_ptr<Format> ollama_format(const AnswerHead& head);
/// Both at once: what OpenAI tells, and beside it what only llama.cpp does.
std::unique_ptr<Format> bilingual_format(const AnswerHead& head);

}  // namespace spectr::server
