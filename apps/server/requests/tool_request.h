#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/server/requests/fields.h"
#include "apps/support/json.h"
#include "spectr/text/chat/tool.h"

namespace spectr::server {

/// The tools of a request, and whether the answer must call one.
struct ToolRequest {
  enum class Choice { automatic, none, required };

  std::vector<Tool> tools = {};
  Choice choice = Choice::automatic;
  std::string named = {};             ///< the tool that must be called; empty: any
  std::optional<bool> parallel = {};  ///< whether an answer may have several calls

  /// Whether the model is told of the tools.
  bool offered() const { return !tools.empty() && choice != Choice::none; }

  /// Whether answers with these tools are constrained, see constraint_with_calls().
  bool constrains() const;

  /// Adds a tool: `name`, `description`, `strict` and the schema, which is called `schema_name`. `where`
  /// names the tool in errors. Throws ApiError if the name is malformed or taken.
  void add(const std::string& where, Fields& fields, std::string_view schema_name);
  /// Requires a call of the tool. Throws ApiError if there is no such tool.
  void require(std::string name);

  /// Reads tools, tool_choice and parallel_tool_calls as /v1/chat/completions has them. Throws ApiError.
  static ToolRequest read(Fields& fields);
};

}  // namespace spectr::server
