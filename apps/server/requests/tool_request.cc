#include "apps/server/requests/tool_request.h"

#include <utility>

#include "apps/server/api_error.h"
#include "apps/support/json_input.h"
#include "spectr/base/names.h"

namespace spectr::server {
namespace {

void read_tool(const JsonInput& tool, const std::string& where, ToolRequest& request) {
  if (!tool.is_object())
    throw ApiError::invalid(fmt::format("'{}' must be an object, got {}", where, shown(tool)));
  Fields fields(tool, where + ".");
  if (const auto type = fields.string("type").value_or("function"); type != "function") {
    throw ApiError::invalid(
        fmt::format("'{}.type' must be function, got {}", where, escape(type, max_shown)));
  }
  const JsonInput* function = fields.object("function");
  if (function == nullptr) throw ApiError::invalid(fmt::format("'{}.function' is missing", where));
  fields.any("cache_control");
  fields.ignore_others();
  const std::string inside = where + ".function";
  Fields inner(*function, inside + ".");
  request.add(inside, inner, "parameters");
  inner.ignore_others();
}

void read_choice(const JsonInput& choice, ToolRequest& request) {
  using Choice = ToolRequest::Choice;
  if (choice == "auto") return;
  if (choice == "none") {
    request.choice = Choice::none;
  } else if (choice == "required") {
    request.require("");
  } else if (choice.is_object()) {
    Fields fields(choice, "tool_choice.");
    const JsonInput* function = fields.object("function");
    if (fields.string("type") != "function" || function == nullptr) {
      throw ApiError::invalid(fmt::format("'tool_choice' must name a function, got {}", shown(choice)));
    }
    const auto name = Fields(*function, "tool_choice.function.").string("name");
    if (!name || name->empty()) throw ApiError::invalid("'tool_choice.function.name' is missing");
    request.require(*name);
  } else {
    throw ApiError::invalid(
        fmt::format("'tool_choice' must be auto, none, required or name a function, got {}", shown(choice)));
  }
}

}  // namespace

void ToolRequest::add(const std::string& where, Fields& fields, std::string_view schema_name) {
  FunctionDescription function;
  auto name = fields.string("name");
  if (!name) throw ApiError::invalid(fmt::format("'{}.name' is missing", where));
  function.name = *std::move(name);
  function.description = fields.string("description");
  if (const JsonInput* schema = fields.object(schema_name))
    function.parameters = schema->dump(-1, ' ', false, JsonInput::error_handler_t::replace);
  function.strict = fields.boolean("strict").value_or(false);
  function.where = where;
  function.schema = fmt::format("{}.{}", where, schema_name);
  valid(ToolUse::add(std::move(function)));
}

void ToolRequest::require(std::string name) {
  valid(ToolUse::require(std::move(name)));
}

ToolRequest ToolRequest::read(Fields& fields) {
  ToolRequest request;
  if (const JsonInput* tools = fields.any("tools")) {
    if (!tools->is_array())
      throw ApiError::invalid(fmt::format("'tools' must be a list, got {}", shown(*tools)));
    for (std::size_t i = 0; i < tools->size(); ++i)
      read_tool((*tools)[i], fmt::format("tools[{}]", i), request);
  }
  if (const JsonInput* choice = fields.any("tool_choice")) read_choice(*choice, request);
  request.parallel = fields.boolean("parallel_tool_calls");
  return request;
}

}  // namespace spectr::server
