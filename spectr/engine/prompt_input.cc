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
  const auto& messages = std::get<std::vector<ChatMessage>>(prompt);
  if (messages.empty()) return error("the conversation has no message");
  if (!models.chat_template) return std::unexpected(models.chat_template.error());
  SPECTR_TRY(const MarkedText text, models.chat_template->render({.messages = messages}));
  request.prompts.push_back(models.tokenizer->encode(text, true));
  if (models.splits_reasoning) request.reasoning = reasoning_split(text, models);
  return {};
}

}  // namespace spectr
