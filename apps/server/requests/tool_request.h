#pragma once

#include <string>
#include <string_view>

#include "apps/server/requests/fields.h"
#include "spectr/engine/tools/tool_use.h"

namespace spectr::server {

/// The tools of a request and its tool choice, as fields.
struct ToolRequest : ToolUse {
  /// Adds a tool: `name`, `description`, `strict` and the schema, the field `schema_name`. `where` names the
  /// tool in errors. Throws ApiError if the name is malformed or a duplicate.
  void add(const std::string& where, Fields& fields, std::string_view schema_name);
  /// Requires a call of the tool. Throws ApiError if there is no such tool.
  void require(std::string name);

  /// Reads tools, tool_choice and parallel_tool_calls of /v1/chat/completions. Throws ApiError.
  static ToolRequest read(Fields& fields);
};

}  // namespace spectr::server
