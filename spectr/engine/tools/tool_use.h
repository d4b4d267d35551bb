#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/engine/request.h"
#include "spectr/engine/rules/grammar.h"
#include "spectr/text/chat/chat_template.h"
#include "spectr/text/chat/tool.h"

namespace spectr {

/// A function as a request describes it.
struct FunctionDescription {
  std::string name;
  std::optional<std::string> description = {};
  std::string parameters = {};  ///< JSON schema of the arguments; empty: any object
  bool strict = false;          ///< arguments always fit the schema
  std::string where = {};       ///< name of the function in errors
  std::string schema = {};      ///< name of the schema in errors
};

/// The tools of a request, and whether the answer must call them.
struct ToolUse {
  enum class Choice { automatic, none, required };

  std::vector<Tool> tools = {};
  Choice choice = Choice::automatic;
  std::string named = {};             ///< the tool that must be called; empty: any
  std::optional<bool> parallel = {};  ///< true: an answer may have several calls

  /// Returns true if the tools are shown to the model.
  bool offered() const { return !tools.empty() && choice != Choice::none; }
  /// Returns true if the tools constrain answers; see constraint_with_calls().
  bool constrains() const;

  /// Adds a function. Fails if its name is malformed or a duplicate, or if there are too many tools.
  /// Requires: `parameters` is a JSON object or empty.
  Result<void> add(FunctionDescription function);
  /// Requires a call of the tool, or of any tool if the name is empty. Fails if there is no such tool.
  Result<void> require(std::string name);
};

/// Reads tools and the tool choice from JSON in OpenAI's form. `tools`: a list of {"type": "function",
/// "function": {"name", "description", "parameters", "strict"}}. `choice`: auto, none or required as a word,
/// or {"type": "function", "function": {"name"}}; empty: auto. Errors name the field. Cost: linear.
Result<ToolUse> read_tool_use(std::string_view tools, std::string_view choice);

/// Returns the constraint on an answer that may call tools, or none if it is unconstrained. It enforces a
/// call if the request requires one, and the schemas of strict tools. With `content`, a JSON schema, the
/// answer is calls or JSON of that schema. `split` determines how reasoning is split off.
Result<std::optional<Constraint>> constraint_with_calls(const ToolUse& use, const ChatTemplate& chat_template,
                                                        const ReasoningSplit& split,
                                                        const std::optional<Constraint>& content);

}  // namespace spectr
