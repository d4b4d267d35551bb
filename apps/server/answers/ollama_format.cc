#include <chrono>
#include <cmath>
#include <cstdint>
#include <utility>

#include "apps/server/answers/format.h"
#include "apps/server/answers/ollama_information.h"

namespace spectr::server {
namespace {

std::int64_t nanoseconds(double seconds) {
  return std::llround(1e9 * seconds);
}

/// Format of /api/chat and /api/generate, Ollama's API: one JSON object per line, statistics in the last.
class OllamaFormat final : public Format {
 public:
  explicit OllamaFormat(const AnswerHead& head) : head_(head) {}

  Events opening(std::size_t) override { return {}; }

  Events chunk(std::size_t, const AnswerDelta& delta) override {
    Json event = answer_with(delta);
    event["done"] = false;
    return Events(1, std::move(event));
  }

  Events end(std::size_t, const CompletionResult& result, bool) override {
    return Events(1, ended(answer_with({}), result));
  }

  Framing framing() const override { return Framing::lines; }
  Json failure(const ApiError& error) const override { return error_json(error, head_.request.api); }
  std::optional<Json> usage(std::span<const CompletionResult>) const override { return std::nullopt; }
  bool says_done() const override { return false; }

  Json whole(std::span<const FinishedText> texts) const override {
    return ended(answer_with(texts.front().all), texts.front().result);
  }

 private:
  Json answer_with(const AnswerDelta& delta) const {
    Json answer = {{"model", head_.model}, {"created_at", timestamp()}};
    const bool is_chat = head_.request.api == Api::ollama_chat;
    Json& holder = is_chat ? answer["message"] : answer;
    if (is_chat) holder = {{"role", "assistant"}};
    holder[is_chat ? "content" : "response"] = delta.text;
    if (!delta.reasoning.empty()) holder["thinking"] = delta.reasoning;
    for (std::size_t i = 0; i < delta.calls.size(); ++i) {
      const ToolCall& call = delta.calls[i];
      Json function = {{"index", delta.first_call + i}, {"name", call.name}};
      function["arguments"] = Json::parse(call.arguments);
      holder["tool_calls"].push_back({{"id", call.id}, {"function", std::move(function)}});
    }
    if (head_.request.alternatives) answer["logprobs"] = head_.token_probabilities(delta);
    return answer;
  }

  Json ended(Json answer, const CompletionResult& result) const {
    const Statistics& statistics = result.statistics;
    const std::chrono::duration<double> total = std::chrono::steady_clock::now() - head_.asked;
    const std::chrono::duration<double> waited = head_.waited;
    answer["done"] = true;
    answer["done_reason"] = finish_reason(result);
    answer["total_duration"] = nanoseconds(total.count());
    answer["load_duration"] = nanoseconds(waited.count());
    answer["prompt_eval_count"] = prompt_tokens_of(head_.prepared);
    answer["prompt_eval_duration"] = nanoseconds(statistics.prompt_seconds);
    answer["eval_count"] = statistics.generated();
    answer["eval_duration"] = nanoseconds(statistics.total_seconds - statistics.prompt_seconds);
    return answer;
  }

  const AnswerHead& head_;
};

}  // namespace

std::unique_ptr<Format> ollama_format(const AnswerHead& head) {
  return std::make_unique<OllamaFormat>(head);
}

}  // namespace spectr::server
