#include "apps/cli/chat_renderer.h"

#include <span>
#include <string>
#include <vector>

#include "apps/cli/failure.h"
#include "spectr/text/chat/chat_template.h"

namespace spectr::cli {

bench::ChatRenderer chat_renderer(const EngineModels& models) {
  if (!models.has_template) {
    throw Failure(Status::usage,
                  fmt::format("--chat: {} has no chat template", models.target->file().name()));
  }
  if (!models.chat_template) throw Failure(models.chat_template.error());
  return [&tokenizer = *models.tokenizer, &chat_template = *models.chat_template](
             std::span<const std::string> said) -> Result<std::vector<Token>> {
    ChatTemplate::Conversation conversation;
    for (std::size_t i = 0; i < said.size(); ++i)
      conversation.messages.push_back(ChatMessage::of(i % 2 == 0 ? "user" : "assistant", said[i]));
    SPECTR_TRY(const MarkedText prompt, chat_template.render(conversation));
    return tokenizer.encode(prompt, true);
  };
}

}  // namespace spectr::cli
