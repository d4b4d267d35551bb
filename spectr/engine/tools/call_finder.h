#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "spectr/engine/completion.h"
#include "spectr/engine/engine_models.h"
#include "spectr/engine/prompt_input.h"
#include "spectr/engine/request.h"
#include "spectr/engine/tools/tool_use.h"
#include "spectr/text/chat/answer_calls.h"

namespace spectr {

/// Returns what finds the calls in each of `count` answers; none if no tools are offered. `constrained`: by
/// constraint_with_calls().
std::vector<AnswerCalls> answer_calls(const ToolUse& use, const ChatTemplate& chat_template, bool constrained,
                                      std::size_t count);

/// Moves the calls out of an event's text and reasoning. Returns them without ids.
std::vector<ToolCall> take_calls(AnswerCalls& answer, CompletionEvent& event);

/// Finds the tool calls in the completions of a request. Not thread-safe.
class CallFinder {
 public:
  /// `prompt`: of the request.
  CallFinder(const PromptInput& prompt, const EngineModels& models,
             std::shared_ptr<const PreparedRequest> request);

  /// Moves the calls out of the next event of a completion, and returns them. Ids have nine letters and
  /// digits. They are a hash of the prompt, the seed, and the places of completion and call, so they differ
  /// within a conversation.
  std::vector<ToolCall> take(std::size_t choice, CompletionEvent& event);

 private:
  std::shared_ptr<const PreparedRequest> request_;
  std::vector<AnswerCalls> answers_;  // of each completion; empty if no tools are offered
  std::vector<std::size_t> found_;    // calls in each
};

}  // namespace spectr
