#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/support/json.h"
#include "spectr/text/chat/chat_message.h"

namespace spectr::server {

/// Reads the messages of /v1/chat/completions. Throws ApiError naming the field.
std::vector<ChatMessage> read_chat_messages(const JsonInput& messages);

/// Reads `tool_calls` of an assistant message. `where` is the prefix of field names in errors. Throws
/// ApiError naming the field.
void read_calls(const JsonInput& calls, const std::string& where, ChatMessage& message);

/// Returns the arguments of a call as JSON text. `arguments` is an object or a string that contains one.
/// Throws ApiError naming the field.
std::string read_arguments(const JsonInput* arguments, std::string_view field);

/// Maximum number of messages of a request.
inline constexpr std::size_t max_messages = 4096;

}  // namespace spectr::server
