#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/text/chat/chat_message.h"
#include "spectr/text/chat/tool.h"

namespace spectr {

// Calls whose arguments are not written as JSON. Calls have no ids. None: the text is malformed, nested
// deeper than 64 values, or names a tool that is not among `tools`.

/// Reads NAME{KEY:VALUE,…}, as Gemma 4 writes it: strings stand between <|"|>, and keys may be bare.
std::optional<ToolCall> read_gemma_call(std::string_view text, const ToolSet& tools);

/// Reads [NAME(KEY=VALUE, …), …], as LFM2 writes it. Values are literals of Python or JSON.
std::optional<std::vector<ToolCall>> read_python_calls(std::string_view text, const ToolSet& tools);

/// Returns a JSON object as arguments in Python: KEY=VALUE, …
std::string python_arguments(std::string_view json);

}  // namespace spectr
