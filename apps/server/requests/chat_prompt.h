#pragma once

#include <optional>
#include <vector>

#include "apps/server/requests/fields.h"
#include "apps/server/requests/tool_request.h"
#include "apps/support/json.h"
#include "spectr/text/chat/chat_template.h"

namespace spectr::server {

/// A conversation to be continued.
struct ChatRequest {
  std::vector<ChatMessage> messages;
  JsonInput values;  ///< chat_template_kwargs and reasoning_effort
  std::optional<bool> continue_final_message, add_generation_prompt;
  ToolRequest tools;

  /// Reads the fields of /v1/chat/completions. Throws ApiError naming the field.
  static ChatRequest read(Fields& fields);
};

/// Renders the prompt of a conversation. A final assistant message is continued unless the request says
/// otherwise. Throws ApiError if there is no message or if the template is unusable or rejects them.
MarkedText chat_prompt(const ChatRequest& request, const Result<ChatTemplate>& chat_template);

}  // namespace spectr::server
