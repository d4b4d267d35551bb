#pragma once

#include <optional>
#include <vector>

#include "apps/server/chat_template.h"
#include "apps/server/fields.h"
#include "spectr/text/tokenizer.h"

namespace spectr::server {

/// Variables of chat templates that a request cannot set.
constexpr const char* own_variables[] = {"messages", "add_generation_prompt", "bos_token", "eos_token"};

/// What a body says of a conversation, unchecked.
struct ChatRequest {
  JsonInput messages;
  JsonInput values;  ///< chat_template_kwargs, and reasoning_effort
  std::optional<bool> continue_final_message, add_generation_prompt;

  /// Throws ApiError that names the field.
  static ChatRequest read(Fields& fields);
};

/// The text that the model's chat template makes of a conversation. A last message of the assistant is
/// continued, unless the request says otherwise. Throws ApiError: messages that are none, a template that
/// refuses them or cannot be run. A model without a template gets a plain one.
MarkedText chat_prompt(const ChatRequest& request, const Result<ChatTemplate>& chat_template);

/// The tokens of that text: its special tokens are recognised where they are not quoted, and it begins with
/// one beginning-of-text token even where the template writes it, too.
std::vector<Token> encode_chat(const MarkedText& text, const Tokenizer& tokenizer);

}  // namespace spectr::server
