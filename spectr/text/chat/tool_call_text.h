#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/text/chat/chat_message.h"
#include "spectr/text/chat/tool.h"
#include "spectr/text/chat/tool_form.h"

namespace spectr {

// Reads calls whose text is complete. The calls have no ids. Returns nothing if the text is malformed, or
// names a tool that is not among `tools`.

/// Reads {"name": …, "arguments": {…}} or a list of such objects. Other member names that models use are
/// accepted. With `strict`, an object without arguments is not a call.
std::optional<std::vector<ToolCall>> read_json_calls(std::string_view text, const ToolSet& tools,
                                                     bool strict);

/// Reads a call of the tool from its arguments, a JSON object.
std::optional<ToolCall> read_named_call(std::string_view tool, std::string_view arguments);

/// Reads NAME name_end (key_open KEY key_close VALUE value_close)…, up to the first closing mark of the form.
/// A value is text if the schema accepts a string, else JSON.
std::optional<ToolCall> read_tagged_call(std::string_view text, const ToolSet& tools, const ToolForm& form);

/// Returns whether a JSON object or list can begin a call, given the name of its first member; nothing while
/// `text` is too short to tell.
std::optional<bool> may_be_json_call(std::string_view text);

}  // namespace spectr
