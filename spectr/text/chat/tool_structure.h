#pragma once

#include <span>
#include <string>
#include <string_view>

#include "spectr/base/result.h"
#include "spectr/text/chat/tool.h"
#include "spectr/text/chat/tool_form.h"

namespace spectr {

/// The calls that an answer may have.
struct CallRule {
  std::span<const Tool> tools;  ///< callable tools; not empty
  /// The answer consists of calls only, at least one. Otherwise it is any text that may contain calls, whose
  /// arguments are unconstrained unless the tool is strict.
  bool must_call = false;
  bool parallel = true;  ///< the answer may have several calls
  std::string content =
      {};  ///< with must_call: structure of an answer without calls, as JSON; empty: not allowed
  /// Marks of reasoning at the beginning of the answer; empty: no reasoning.
  std::string reasoning_open = {}, reasoning_close = {};
};

/// Returns the structure of such answers: {"schemas", "format"} in JSON, where "format" is one of xgrammar's
/// structural tags and "schemas" are JSON schemas that have parts in it. Each schema, in both, has a "field"
/// that names it in errors. Fails if the form cannot express a schema, or if the parser does not recognize
/// calls of the form.
/// *Why arguments fit:* calls begin only with the marks of the form (ToolCallParser's `exact`), and in the
/// structure these are followed by a tool's name and arguments.
Result<std::string> call_structure(const ToolForm& form, const CallRule& rule);

}  // namespace spectr
