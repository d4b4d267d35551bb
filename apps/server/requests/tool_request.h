#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/server/requests/fields.h"
#include "apps/support/json.h"
#include "spectr/text/chat/tool.h"

namespace spectr::server {

/// The tools of a request and its tool choice.
struct ToolRequest {
  enum class Choice { automatic, none, required };

  std::vector<Tool> tools = {};
  Choice choice = Choice::automatic;
  std::string named = {};             ///< the tool that must be called; empty: any
  std::optional<bool> parallel = {};  ///< true: an answer may have several calls

  /// Returns true if the tools are shown to the model.
  bool offered() const { return !tools.empty() && choice != Choice::none; }

  /// Returns true if the tools constrain answers; see constraint_with_calls().
  bool constrains() const;

  /// Adds a tool: `name`, `description`, `strict` and the schema, the field `schema_name`. `where` names the
  /// tool in errors. Throws ApiError if the name is malformed or a duplicate.
  void add(const std::string& where, Fields& fields, std::string_view schema_name);
  /// Requires a call of the tool. Throws ApiError if there is no such tool.
  void require(std::string name);

  /// Reads tools, tool_choice and parallel_tool_calls of /v1/chat/completions. Throws ApiError.
  static ToolRequest read(Fields& fields);
};

}  // namespace spectr::server
