#include "apps/server/active_request.h"

#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <utility>

namespace spectr::server {
namespace {

/// Returns a new id of nine letters and digits, the format that some chat templates require.
std::string make_call_id() {
  constexpr std::string_view digits = "0123456789abcdefghijklmnopqrstuvwxyz";
  constexpr std::size_t length = 9;
  static std::atomic<std::uint64_t> number = std::random_device{}();
  std::uint64_t rest = number++ * 0x9e3779b97f4a7c15;  // scatters consecutive numbers
  rest >>= 16;
  std::string id;
  for (; id.size() < length; rest /= digits.size()) id += digits[rest % digits.size()];
  return id;
}

}  // namespace

AnswerNews ActiveRequest::take(std::size_t choice) {
  CompletionEvent event = completion->take(choice);
  AnswerNews news{.delta = {std::move(event.delta)},
                  .progress = std::move(event.progress),
                  .result = std::move(event.result)};
  if (parsers.empty()) return news;
  AnswerCalls& parser = parsers[choice];
  AnswerCalls::Parts parts = parser.push(
      {std::move(news.delta.reasoning), std::move(news.delta.text), std::exchange(news.delta.thoughts, {})});
  if (news.result) {
    AnswerCalls::Parts last = parser.finish(news.result->reason == FinishReason::eos);
    parts.reasoning += last.reasoning;
    parts.content += last.content;
    for (ToolCall& call : last.calls) parts.calls.push_back(std::move(call));
  }
  for (ToolCall& call : parts.calls) call.id = make_call_id();
  news.delta.reasoning = std::move(parts.reasoning);
  news.delta.text = std::move(parts.content);
  news.delta.first_call = calls[choice];
  calls[choice] += parts.calls.size();
  news.delta.calls = std::move(parts.calls);
  news.called = parser.called();
  return news;
}

}  // namespace spectr::server
