#pragma once

#include <string>
#include <variant>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/base/token.h"
#include "spectr/engine/engine_models.h"
#include "spectr/engine/request.h"
#include "spectr/engine/tools/tool_use.h"
#include "spectr/text/chat/chat_message.h"

namespace spectr {

/// A conversation to be answered, and the tools that the answer may call.
struct ChatInput {
  std::vector<ChatMessage> messages;
  ToolUse tools = {};
};

/// A prompt in a caller's form: text in which "<s>" is plain text, tokens, or a conversation.
using PromptInput = std::variant<std::string, std::vector<Token>, ChatInput>;

/// Adds a prompt to a request. For a conversation, reasoning is split from the answer's content if the
/// models' options say so, and the request's constraint becomes one on the content and its calls. Fails if
/// the chat template cannot render the conversation, or the constraint excludes the tools.
Result<void> add_prompt(const PromptInput& prompt, const EngineModels& models, Request& request);

}  // namespace spectr
