#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/server/answers/format.h"
#include "spectr/base/version.h"

namespace spectr::server {
namespace {

/// A token in completions: its text, or as OpenAI has it bytes:\xe2\x80, where its bytes are no whole
/// characters; as text they would all be the same, and so would tokens that print nothing.
std::string token_name(const Vocabulary& vocabulary, Token token, const std::string& piece) {
  if (piece.empty()) return vocabulary.text(token);
  if (is_text(piece)) return piece;
  std::string name = "bytes:";
  for (const char byte : piece) name += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  return name;
}

/// /v1/completions and /v1/chat/completions.
class OpenAiFormat final : public Format {
 public:
  explicit OpenAiFormat(const AnswerHead& head) : head_(head), chat_(head.request.api == Api::chat) {}

  Events opening(std::size_t choice) override {
    if (!chat_) return {};
    Json one = {{"index", choice}, {"delta", {{"role", "assistant"}, {"content", ""}}}};
    one["logprobs"] = nullptr;
    one["finish_reason"] = nullptr;
    return Events(1, event_with(Json::array({std::move(one)})));
  }

  Events chunk(std::size_t choice, const AnswerDelta& delta) override {
    Events events;
    const bool tells_tokens = head_.request.alternatives || head_.request.details || head_.request.tokens;
    if (delta.calls.empty() || tells_tokens || !delta.text.empty() || !delta.reasoning.empty())
      events.push_back(text_event(choice, delta));
    for (std::size_t i = 0; i < delta.calls.size(); ++i) {
      Json whole = call_json(delta.calls[i]), rest = Json::object();
      const std::size_t index = delta.first_call + i;
      whole["index"] = rest["index"] = index;
      rest["function"]["arguments"] = std::exchange(whole["function"]["arguments"], "");
      events.push_back(call_event(choice, std::move(whole)));
      events.push_back(call_event(choice, std::move(rest)));
    }
    return events;
  }

  Events end(std::size_t choice, const CompletionResult& result, bool called) override {
    Json one = {{"index", choice}};
    if (chat_) {
      one["delta"] = Json::object();
    } else {
      one["text"] = "";
    }
    one["logprobs"] = nullptr;
    one["finish_reason"] = finish_reason(result, called);
    Json event = event_with(Json::array({std::move(one)}));
    add_statistics(event, {&result, 1}, choice);
    return Events(1, event);
  }

  std::optional<Json> usage(std::span<const CompletionResult> results) const override {
    if (!head_.request.stream_usage) return std::nullopt;
    Json event = envelope(true, Json::array());
    event["usage"] = usage_of(head_.prepared, results);
    add_statistics(event, results);
    return event;
  }

  Json whole(std::span<const FinishedText> texts) const override {
    Json choices = Json::array();
    std::vector<CompletionResult> results;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const AnswerDelta& all = texts[i].all;
      Json one = {{"index", i}};
      if (chat_) {
        one["message"] = message_of(all);
      } else {
        one["text"] = all.text;
      }
      one["logprobs"] = log_probabilities(all);
      one["finish_reason"] = finish_reason(texts[i].result, !all.calls.empty());
      add_details(one, all);
      choices.push_back(std::move(one));
      results.push_back(texts[i].result);
    }
    Json answer = envelope(false, std::move(choices));
    answer["usage"] = usage_of(head_.prepared, results);
    add_statistics(answer, results);
    return answer;
  }

 private:
  static Json call_json(const ToolCall& call) {
    return {{"id", call.id},
            {"type", "function"},
            {"function", {{"name", call.name}, {"arguments", call.arguments}}}};
  }

  /// The message of an answer that is complete.
  static Json message_of(const AnswerDelta& all) {
    Json message = {{"role", "assistant"}, {"content", all.text}};
    if (!all.calls.empty() && all.text.empty()) message["content"] = nullptr;
    if (!all.reasoning.empty()) message["reasoning_content"] = all.reasoning;
    if (all.calls.empty()) return message;
    message["tool_calls"] = Json::array();
    for (const ToolCall& call : all.calls) message["tool_calls"].push_back(call_json(call));
    return message;
  }

  Json call_event(std::size_t choice, Json call) const {
    Json one = {{"index", choice}};
    one["delta"]["tool_calls"] = Json::array({std::move(call)});
    one["logprobs"] = nullptr;
    one["finish_reason"] = nullptr;
    return event_with(Json::array({std::move(one)}));
  }

  Json text_event(std::size_t choice, const AnswerDelta& delta) const {
    Json one = {{"index", choice}};
    if (chat_) {
      one["delta"] = Json::object();
      if (!delta.reasoning.empty()) one["delta"]["reasoning_content"] = delta.reasoning;
      if (delta.reasoning.empty() || !delta.text.empty()) one["delta"]["content"] = delta.text;
    } else {
      one["text"] = delta.text;
    }
    one["logprobs"] = log_probabilities(delta);
    one["finish_reason"] = nullptr;
    add_details(one, delta);
    return event_with(Json::array({std::move(one)}));
  }

  Json envelope(bool streamed, Json choices) const {
    const std::string_view object = !chat_     ? "text_completion"
                                    : streamed ? "chat.completion.chunk"
                                               : "chat.completion";
    return {{"id", head_.id},
            {"object", object},
            {"created", head_.created},
            {"model", head_.model},
            {"system_fingerprint", "spectr-" + std::string(version())},
            {"choices", std::move(choices)}};
  }

  /// An event that is not the one with the usage says so, where that will come.
  Json event_with(Json choices) const {
    Json event = envelope(true, std::move(choices));
    if (head_.request.stream_usage) event["usage"] = nullptr;
    return event;
  }

  void add_statistics(Json& answer, std::span<const CompletionResult> results, std::size_t first = 0) const {
    answer["seed"] = head_.prepared.request.seed;
    answer["timings"] = timings_of(head_.prepared, results, first);
    answer["metrics"] = {{"speculative_decoding", speculation_of(head_.prepared.decoding, results)}};
  }

  void add_details(Json& choice, const TextDelta& delta) const {
    if (head_.request.details) choice["token_details"] = details_of(delta);
    if (head_.request.tokens) choice["tokens"] = tokens_of(delta);
  }

  Json log_probabilities(const TextDelta& delta) const {
    if (!head_.request.alternatives) return nullptr;
    return chat_ ? chat_log_probabilities(delta) : completion_log_probabilities(delta);
  }

  Json chat_log_probabilities(const TextDelta& delta) const {
    Json content = Json::array();
    for (const TokenReport& report : delta.tokens) {
      Json token = chat_entry(report.piece, head_.log_probability(report));
      Json& others = token[head_.request.sampled_alternatives ? "top_probs" : "top_logprobs"];
      others = Json::array();
      for (const Alternative& other : report.alternatives)
        others.push_back(chat_entry(other.piece, other.log_probability));
      content.push_back(std::move(token));
    }
    return {{"content", std::move(content)}};
  }

  /// The token's text and probability, as chat completions tell them.
  Json chat_entry(const std::string& piece, double log_probability) const {
    Json entry = {{"token", piece}};
    entry.update(probability_of(log_probability, head_.request.sampled_alternatives));
    entry["bytes"] = bytes_of(piece);
    return entry;
  }

  std::string name_of(Token token, const std::string& piece) const {
    return token_name(head_.tokenizer.vocabulary(), token, piece);
  }

  Json completion_log_probabilities(const TextDelta& delta) const {
    Json tokens = Json::array(), own = Json::array(), top = Json::array(), offsets = Json::array();
    for (const TokenReport& report : delta.tokens) {
      tokens.push_back(name_of(report.token, report.piece));
      own.push_back(head_.log_probability(report));
      offsets.push_back(report.offset);
      Json others = Json::object();
      const auto tell = [&](Token token, const std::string& piece, double log_probability) {
        std::string name = name_of(token, piece);
        if (others.contains(name)) name += fmt::format("#{}", token);  // of equal texts the less likely
        others.emplace(std::move(name), log_probability);
      };
      for (const Alternative& other : report.alternatives)
        tell(other.token, other.piece, other.log_probability);
      if (std::ranges::find(report.alternatives, report.token, &Alternative::token) ==
          report.alternatives.end())
        tell(report.token, report.piece, head_.log_probability(report));
      top.push_back(std::move(others));
    }
    return {{"tokens", std::move(tokens)},
            {"token_logprobs", std::move(own)},
            {"top_logprobs", std::move(top)},
            {"text_offset", std::move(offsets)}};
  }

  const AnswerHead& head_;
  bool chat_;
};

}  // namespace

std::unique_ptr<Format> openai_format(const AnswerHead& head) {
  return std::make_unique<OpenAiFormat>(head);
}

}  // namespace spectr::server
