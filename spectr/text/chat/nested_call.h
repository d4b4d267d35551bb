#pragma once

#include <optional>
#include <string_view>

#include "spectr/text/chat/chat_message.h"
#include "spectr/text/chat/tool.h"
#include "spectr/text/chat/tool_form.h"

namespace spectr {

/// Reads NAME name_end (key_open KEY key_close VALUE value_close KEY key_close)…, as MiniMax M3 writes calls.
/// A value is text where the schema accepts a string, and elements are lists where it accepts a list or all
/// have the key "item". The call has no id. None: the text is malformed, nested deeper than 64 values, or
/// names a tool that is not among `tools`.
std::optional<ToolCall> read_nested_call(std::string_view text, const ToolSet& tools, const ToolForm& form);

}  // namespace spectr
