#include "apps/server/active_request.h"

#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <utility>

#include "spectr/engine/tools/call_finder.h"

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
  std::vector<ToolCall> found;
  if (!parsers.empty()) found = take_calls(parsers[choice], event);
  for (ToolCall& call : found) call.id = make_call_id();
  AnswerNews news{.delta = {std::move(event.delta)},
                  .progress = std::move(event.progress),
                  .result = std::move(event.result)};
  if (parsers.empty()) return news;
  news.delta.first_call = calls[choice];
  calls[choice] += found.size();
  news.delta.calls = std::move(found);
  news.called = parsers[choice].called();
  return news;
}

}  // namespace spectr::server
