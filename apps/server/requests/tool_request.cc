#include "apps/server/requests/tool_request.h"

#include <algorithm>
#include <utility>

#include "apps/server/api_error.h"
#include "apps/support/json_input.h"
#include "spectr/base/names.h"

namespace spectr::server {
namespace {

constexpr std::size_t max_tools = 1024;
constexpr std::size_t max_tool_name = 128;  // bytes

bool is_tool_name(std::string_view name) {
  static constexpr std::string_view others = "_-.:/";
  const auto fits = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || others.contains(c);
  };
  return !name.empty() && name.size() <= max_tool_name && std::ranges::all_of(name, fits);
}

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

bool ToolRequest::constrains() const {
  return choice == Choice::required || (offered() && std::ranges::any_of(tools, &Tool::strict));
}

void ToolRequest::add(const std::string& where, Fields& fields, std::string_view schema_name) {
  auto given = fields.string("name");
  if (!given) throw ApiError::invalid(fmt::format("'{}.name' is missing", where));
  std::string name = *std::move(given);
  const auto description = fields.string("description");
  const JsonInput* schema = fields.object(schema_name);
  const bool strict = fields.boolean("strict").value_or(false);
  if (!is_tool_name(name)) {
    throw ApiError::invalid(fmt::format("'{}.name' must have 1 to {} letters, digits and _ - . : /, got '{}'",
                                        where, max_tool_name, escape(name, max_shown)));
  }
  if (std::ranges::find(tools, name, &Tool::name) != tools.end())
    throw ApiError::invalid(fmt::format("'{}.name' is '{}', the name of another tool", where, name));
  if (tools.size() == max_tools) throw ApiError::invalid(fmt::format("'tools' may have {} tools", max_tools));
  JsonInput function = JsonInput::object();
  function["name"] = name;
  if (description) function["description"] = *description;
  // Some chat templates require a schema.
  function["parameters"] = schema != nullptr ? *schema : JsonInput({{"type", "object"}});
  if (schema == nullptr) function["parameters"]["properties"] = JsonInput::object();
  JsonInput definition = JsonInput::object();
  definition["type"] = "function";
  definition["function"] = std::move(function);
  tools.push_back({std::move(name), definition.dump(-1, ' ', false, JsonInput::error_handler_t::replace),
                   strict, fmt::format("{}.{}", where, schema_name)});
}

void ToolRequest::require(std::string name) {
  if (tools.empty()) throw ApiError::invalid("'tool_choice' needs 'tools'");
  if (!name.empty() && std::ranges::find(tools, name, &Tool::name) == tools.end()) {
    throw ApiError::invalid(
        fmt::format("'tool_choice' names '{}', which is not among 'tools'", escape(name, max_shown)));
  }
  choice = Choice::required;
  named = std::move(name);
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
