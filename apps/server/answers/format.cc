#include "apps/server/answers/format.h"

#include <cmath>
#include <utility>

namespace spectr::server {

double AnswerHead::log_probability(const TokenReport& report) const {
  return request.sampled_alternatives ? std::log(report.target.value_or(0.0)) : report.log_probability;
}

Json AnswerHead::token_probabilities(const TextDelta& delta) const {
  const bool sampled = request.sampled_alternatives;
  const auto entry = [sampled](const std::string& piece, double log_probability) {
    Json entry = {{"token", piece}};
    entry.update(probability_of(log_probability, sampled));
    entry["bytes"] = bytes_of(piece);
    return entry;
  };
  Json content = Json::array();
  for (const TokenReport& report : delta.tokens) {
    Json token = entry(report.piece, log_probability(report));
    Json& others = token[sampled ? "top_probs" : "top_logprobs"];
    others = Json::array();
    for (const Alternative& other : report.alternatives)
      others.push_back(entry(other.piece, other.log_probability));
    content.push_back(std::move(token));
  }
  return content;
}

Json error_json(const ApiError& error, Api api) {
  if (api == Api::messages) return error.named_json();
  return is_ollama(api) ? Json{{"error", error.what()}} : error.json();
}

Json Format::progress(std::size_t choice, const PromptProgress& progress) {
  Json event = chunk(choice, {}).front();
  event["prompt_progress"] = {{"total", progress.total},
                              {"cache", progress.cached},
                              {"processed", progress.processed},
                              {"time_ms", std::llround(1e3 * progress.seconds)}};
  return event;
}

std::unique_ptr<Format> make_format(const AnswerHead& head) {
  switch (head.request.api) {
    case Api::native:
    case Api::infill:
      return native_format(head);
    case Api::both:
      return bilingual_format(head);
    case Api::messages:
      return messages_format(head);
    case Api::responses:
      return responses_format(head);
    case Api::ollama_chat:
    case Api::ollama_generate:
      return ollama_format(head);
    case Api::completion:
    case Api::chat:
      break;
  }
  return openai_format(head);
}

}  // namespace spectr::server
