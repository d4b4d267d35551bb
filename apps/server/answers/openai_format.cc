#include <map>
#include <set>
#include <utility>

#include "apps/server/answers/format.h"
#include "apps/server/answers/token_list.h"
#include "spectr/base/version.h"

namespace spectr::server {
namespace {

/// Format of /v1/completions and /v1/chat/completions.
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
    const bool includes_tokens = head_.request.alternatives || head_.request.details || head_.request.tokens;
    if (delta.calls.empty() || includes_tokens || !delta.text.empty() || !delta.reasoning.empty())
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
    const bool begins = begin_echo(choice);
    if (chat_) {
      one["delta"] = Json::object();
    } else {
      one["text"] = begins ? echo_of(choice).text : "";
    }
    one["logprobs"] = begins ? log_probabilities(choice, {}, true) : Json(nullptr);
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
        one["text"] = head_.request.echo ? echo_of(i).text + all.text : all.text;
      }
      one["logprobs"] = log_probabilities(i, all, head_.request.echo);
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

  /// Returns the message of a complete answer.
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

  /// Returns the prompt that a choice echoes.
  const EchoedPrompt& echo_of(std::size_t choice) const {
    const auto found = echoes_.find(choice);
    if (found != echoes_.end()) return found->second;
    return echoes_.emplace(choice, EchoedPrompt(head_.prepared.prompt_of(choice), head_.tokenizer))
        .first->second;
  }
  /// Returns true, once per choice, if the next event must begin with the echoed prompt.
  bool begin_echo(std::size_t choice) { return head_.request.echo && begun_.insert(choice).second; }

  Json text_event(std::size_t choice, const AnswerDelta& delta) {
    const bool is_empty = delta.text.empty() && delta.tokens.empty() && delta.prompt.empty();
    const bool begins = !is_empty && begin_echo(choice);
    Json one = {{"index", choice}};
    if (chat_) {
      one["delta"] = Json::object();
      if (!delta.reasoning.empty()) one["delta"]["reasoning_content"] = delta.reasoning;
      if (delta.reasoning.empty() || !delta.text.empty()) one["delta"]["content"] = delta.text;
    } else {
      one["text"] = begins ? echo_of(choice).text + delta.text : delta.text;
    }
    one["logprobs"] = log_probabilities(choice, delta, begins);
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

  /// Wraps an event. With `stream_usage`, every event except the last has a null `usage`.
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

  /// Formats log-probabilities. If `begins`, those of the echoed prompt come first.
  Json log_probabilities(std::size_t choice, const TextDelta& delta, bool begins) const {
    if (!head_.request.alternatives) return nullptr;
    if (chat_) return {{"content", head_.token_probabilities(delta)}};
    TokenList list(head_.tokenizer.vocabulary());
    std::size_t characters = 0;  // length of the echoed prompt
    if (head_.request.echo) {
      const EchoedPrompt& prompt = echo_of(choice);
      characters = prompt.characters;
      if (begins) list.add(head_.prepared.prompt_of(choice), prompt, delta.prompt);
    }
    for (const TokenReport& report : delta.tokens) {
      list.add(report.token, report.piece, head_.log_probability(report), report.alternatives,
               characters + report.offset);
    }
    return std::move(list).json();
  }

  const AnswerHead& head_;
  bool chat_;
  mutable std::map<std::size_t, EchoedPrompt> echoes_;  // by choice, created on demand
  std::set<std::size_t> begun_;                         // choices whose prompt the stream has sent
};

}  // namespace

std::unique_ptr<Format> openai_format(const AnswerHead& head) {
  return std::make_unique<OpenAiFormat>(head);
}

}  // namespace spectr::server
