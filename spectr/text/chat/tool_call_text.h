#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/text/chat/chat_message.h"
#include "spectr/text/chat/tool.h"
#include "spectr/text/chat/tool_form.h"

namespace spectr {

// Reads calls whose text is complete. Calls have no ids. None: the text is malformed, or names a tool that
// is not among `tools`.

/// Reads {"name": …, "arguments": {…}} or a list of such objects. Other names of members that models use are
/// accepted. With `strict` an object without arguments is no call.
std::optional<std::vector<ToolCall>> read_json_calls(std::string_view text, const ToolSet& tools,
                                                     bool strict);

/// Reads the arguments, a JSON object, of a call of the tool.
std::optional<ToolCall> read_named_call(std::string_view tool, std::string_view arguments);

/// Reads NAME name_end (key_open KEY key_close VALUE value_close)…, up to the first closing mark of the form.
/// A value is text where the schema accepts a string, else JSON.
std::optional<ToolCall> read_tagged_call(std::string_view text, const ToolSet& tools, const ToolForm& form);

/// Whether a JSON object or list can begin a call, by the name of its first member: unknown while `text` is
/// too short.
std::optional<bool> may_be_json_call(std::string_view text);

}  // namespace spectr
