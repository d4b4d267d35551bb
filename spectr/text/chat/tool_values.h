#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spectr/text/chat/chat_message.h"
#include "spectr/text/chat/tool.h"
#include "spectr/text/chat/tool_form.h"
#include "spectr/text/jinja/value.h"

namespace spectr {

// Conversion of tools and calls to template values and to text.

/// Returns JSON as a value, or an undefined value if it is malformed.
jinja::Value json_value(std::string_view json, bool quoted);
/// Returns the definitions as a list.
jinja::List tools_value(const std::vector<Tool>& tools, bool quoted);

/// Returns instructions about the tools for a model without a form of its own.
std::string tool_instructions(const std::vector<Tool>& tools);
/// Returns calls in the form of the model.
std::string text_of_calls(const std::vector<ToolCall>& calls, const ToolForm& form);

/// Returns nine letters and digits in place of an id; an id of this form is returned as it is.
std::string short_id(std::string_view id);

}  // namespace spectr
