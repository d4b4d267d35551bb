#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spectr/text/chat/chat_message.h"
#include "spectr/text/chat/tool.h"
#include "spectr/text/chat/tool_form.h"
#include "spectr/text/jinja/value.h"

namespace spectr {

// Tools and calls as values of templates and as text.

/// Returns JSON as a value, or an undefined value if it is malformed.
jinja::Value json_value(std::string_view json, bool quoted);
/// Returns the definitions as a list.
jinja::List tools_value(const std::vector<Tool>& tools, bool quoted);

/// Returns what a model without a form of its own is told of the tools.
std::string tool_instructions(const std::vector<Tool>& tools);
/// Returns calls as a model of this form writes them.
std::string text_of_calls(const std::vector<ToolCall>& calls, const ToolForm& form);

/// Returns nine letters and digits that stand for an id; an id of that form stands for itself.
std::string short_id(std::string_view id);

}  // namespace spectr
