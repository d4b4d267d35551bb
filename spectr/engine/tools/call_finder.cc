#include "spectr/engine/tools/call_finder.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "spectr/base/hash.h"

namespace spectr {
namespace {

/// Returns nine letters and digits, the form that some chat templates require.
std::string call_id(const PreparedRequest& request, std::size_t choice, std::size_t index) {
  constexpr std::string_view digits = "0123456789abcdefghijklmnopqrstuvwxyz";
  constexpr std::size_t length = 9;
  Fnv1a hash;
  for (const Token token : request.prompt_of(choice)) hash.add(static_cast<std::uint64_t>(token));
  for (const std::uint64_t word : {request.request.seed, request.request.first_sample + choice, index})
    hash.add(word);
  std::uint64_t rest = hash.value();
  std::string id;
  for (; id.size() < length; rest /= digits.size()) id += digits[rest % digits.size()];
  return id;
}

}  // namespace

std::vector<AnswerCalls> answer_calls(const ToolUse& use, const ChatTemplate& chat_template, bool constrained,
                                      std::size_t count) {
  if (!use.offered()) return {};
  const ToolForm& form = chat_template.tool_form();
  const AnswerCalls answer(form, std::make_shared<const ToolSet>(use.tools),
                           form.parallel && use.parallel.value_or(true), constrained);
  return std::vector<AnswerCalls>(count, answer);
}

std::vector<ToolCall> take_calls(AnswerCalls& answer, CompletionEvent& event) {
  TextDelta& delta = event.delta;
  AnswerCalls::Parts parts =
      answer.push({std::move(delta.reasoning), std::move(delta.text), std::exchange(delta.thoughts, {})});
  if (event.result) {
    AnswerCalls::Parts last = answer.finish(event.result->reason == FinishReason::eos);
    parts.reasoning += last.reasoning;
    parts.content += last.content;
    std::ranges::move(last.calls, std::back_inserter(parts.calls));
  }
  delta.reasoning = std::move(parts.reasoning);
  delta.text = std::move(parts.content);
  return std::move(parts.calls);
}

CallFinder::CallFinder(const PromptInput& prompt, const EngineModels& models,
                       std::shared_ptr<const PreparedRequest> request)
    : request_(std::move(request)) {
  const auto* chat = std::get_if<ChatInput>(&prompt);
  if (chat == nullptr || !chat->tools.offered()) return;
  answers_ = answer_calls(chat->tools, *models.chat_template, request_->request.constraint.has_value(),
                          request_->completions());
  found_.resize(answers_.size());
}

std::vector<ToolCall> CallFinder::take(std::size_t choice, CompletionEvent& event) {
  if (answers_.empty()) return {};
  std::vector<ToolCall> calls = take_calls(answers_[choice], event);
  for (ToolCall& call : calls) call.id = call_id(*request_, choice, found_[choice]++);
  return calls;
}

}  // namespace spectr
