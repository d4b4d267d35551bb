#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/text/chat/chat_message.h"
#include "spectr/text/chat/tool.h"

namespace spectr {

// Reads calls whose arguments are not JSON. The calls have no ids. Returns nothing if the text is malformed,
// nested more than 64 levels deep, or names a tool that is not among `tools`.

/// Reads NAME{KEY:VALUE,…}, as Gemma 4 writes it: strings are enclosed in <|"|>, and keys may be bare.
std::optional<ToolCall> read_gemma_call(std::string_view text, const ToolSet& tools);

/// Reads [NAME(KEY=VALUE, …), …], as LFM2 writes it. Values are literals of Python or JSON.
std::optional<std::vector<ToolCall>> read_python_calls(std::string_view text, const ToolSet& tools);

/// Converts a JSON object to arguments in Python: KEY=VALUE, …
std::string python_arguments(std::string_view json);

}  // namespace spectr
