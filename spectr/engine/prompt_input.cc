#include "spectr/engine/prompt_input.h"

#include <utility>

namespace spectr {

Result<void> add_prompt(const PromptInput& prompt, const EngineModels& models, Request& request) {
  if (const auto* text = std::get_if<std::string>(&prompt)) {
    request.prompts.push_back(models.tokenizer->encode(*text));
    return {};
  }
  if (const auto* tokens = std::get_if<std::vector<Token>>(&prompt)) {
    request.prompts.push_back(*tokens);
    return {};
  }
  const auto& [messages, tools] = std::get<ChatInput>(prompt);
  if (messages.empty()) return error("the conversation has no message");
  if (!models.chat_template) return std::unexpected(models.chat_template.error());
  ChatTemplate::Conversation conversation{.messages = messages};
  if (tools.offered()) conversation.tools = tools.tools;
  SPECTR_TRY(const MarkedText text, models.chat_template->render(conversation));
  request.prompts.push_back(models.tokenizer->encode(text, true));
  const ReasoningSplit split = reasoning_split(text, models);
  if (tools.offered()) {
    SPECTR_TRY(request.constraint,
               constraint_with_calls(tools, *models.chat_template, split, request.constraint));
  } else if (request.constraint) {
    request.constraint->after = content_mark(*split.form, split.begun);
  }
  if (!models.splits_reasoning && !tools.offered()) return {};
  request.reasoning = split;
  request.reasoning->keeps = {.calls = tools.offered(), .thoughts = !models.splits_reasoning};
  return {};
}

}  // namespace spectr
