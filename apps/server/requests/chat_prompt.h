#pragma once

#include <optional>

#include "apps/server/requests/fields.h"
#include "apps/support/json.h"
#include "spectr/text/chat/chat_template.h"

namespace spectr::server {

/// What a body says of a conversation, unchecked.
struct ChatRequest {
  JsonInput messages;
  JsonInput values;  ///< chat_template_kwargs, and reasoning_effort
  std::optional<bool> continue_final_message, add_generation_prompt;

  /// Throws ApiError that names the field.
  static ChatRequest read(Fields& fields);
};

/// Renders the prompt of a conversation. A last message of the assistant is continued unless the request says
/// otherwise. Throws ApiError if a message is malformed, or if the template cannot be used or refuses them.
MarkedText chat_prompt(const ChatRequest& request, const Result<ChatTemplate>& chat_template);

}  // namespace spectr::server
