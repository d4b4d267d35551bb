#pragma once

#include <ctime>
#include <memory>
#include <optional>
#include <span>
#include <string>

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

  /// What the request wants to know of a token: its log-probability under the model, or under the
  /// distribution that was sampled.
  double log_probability(const TokenReport& report) const;
};

/// How one API tells texts.
class Format {
 public:
  virtual ~Format() = default;

  /// The event that comes before all others of a choice, where the API has one.
  virtual std::optional<Json> opening(std::size_t choice) const = 0;
  /// A streamed event: what has been added to a text.
  virtual Json chunk(std::size_t choice, const TextDelta& delta) const = 0;
  /// A streamed event: how far the prompt of a text has been read.
  Json progress(std::size_t choice, const PromptProgress& progress) const;
  /// The last event of a text.
  virtual Json end(std::size_t choice, const CompletionResult& result) const = 0;
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
/// Both at once: what OpenAI tells, and beside it what only llama.cpp does.
std::unique_ptr<Format> bilingual_format(const AnswerHead& head);

}  // namespace spectr::server
