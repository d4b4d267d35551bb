#include "apps/cli/chat_renderer.h"

#include <memory>
#include <string>
#include <vector>

#include "apps/cli/failure.h"
#include "spectr/text/chat/chat_template.h"

namespace spectr::cli {

bench::ChatRenderer chat_renderer(const LoadedModel& target) {
  const Gguf& file = target.transformer->file();
  const auto source = file.find("tokenizer.chat_template");
  if (source == nullptr)
    throw Failure(Status::usage, fmt::format("--chat: {} has no chat template", file.name()));
  const auto chat_template = std::make_shared<const ChatTemplate>(
      need(ChatTemplate::make(need(file.string("tokenizer.chat_template")), target.tokenizer->vocabulary())));
  return [&tokenizer = *target.tokenizer,
          chat_template](std::span<const std::string> said) -> Result<std::vector<Token>> {
    ChatTemplate::Conversation conversation;
    for (std::size_t i = 0; i < said.size(); ++i)
      conversation.messages.push_back(ChatMessage::of(i % 2 == 0 ? "user" : "assistant", said[i]));
    SPECTR_TRY(const MarkedText prompt, chat_template->render(conversation));
    return tokenizer.encode(prompt, true);
  };
}

}  // namespace spectr::cli
