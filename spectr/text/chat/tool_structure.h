#pragma once

#include <span>
#include <string>
#include <string_view>

#include "spectr/base/result.h"
#include "spectr/text/chat/tool.h"
#include "spectr/text/chat/tool_form.h"

namespace spectr {

/// Which calls an answer may have.
struct CallRule {
  std::span<const Tool> tools;  ///< those that may be called; not empty
  /// The answer is one call or several and nothing else. Otherwise it is any text, in which calls are free
  /// in their arguments unless the tool is strict.
  bool must_call = false;
  bool parallel = true;  ///< it may have several calls
  std::string content =
      {};  ///< with must_call: the structure of what it may be instead, as JSON; empty: none
  /// Marks of reasoning that the answer may begin with; empty: it does not.
  std::string reasoning_open = {}, reasoning_close = {};
};

/// Returns the structure of such answers: {"schemas", "format"} in JSON, where "format" is one of xgrammar's
/// structural tags and "schemas" has JSON schemas of which it contains parts. Each schema, in the list and in
/// the format, has a "field", by which errors name it. Fails if the form cannot express a schema, or if the
/// parser does not read calls of the form.
/// *Why arguments fit:* calls begin with the marks of the form alone (ToolCallParser's `exact`), and what
/// follows them in the structure is a tool's name and arguments.
Result<std::string> call_structure(const ToolForm& form, const CallRule& rule);

}  // namespace spectr
