#pragma once

#include <vector>

#include "apps/support/json.h"
#include "spectr/text/chat/chat_message.h"

namespace spectr::server {

/// Reads the messages of /v1/chat/completions. Throws ApiError that names the field.
std::vector<ChatMessage> read_chat_messages(const JsonInput& messages);

/// Returns the arguments of a call as JSON text: `arguments` is an object, or a string that holds one. Throws
/// ApiError that names the field.
std::string read_arguments(const JsonInput* arguments, std::string_view field);

/// Messages that a request may have.
inline constexpr std::size_t max_messages = 4096;

}  // namespace spectr::server
