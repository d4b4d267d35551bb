// Tools and tool choices as JSON.
#include <fmt/format.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

#include "spectr/base/names.h"
#include "spectr/engine/rules/json_schema.h"
#include "spectr/engine/tools/tool_use.h"

namespace spectr {
namespace {

using RequestJson = nlohmann::ordered_json;
using JsonType = RequestJson::value_t;

constexpr std::size_t max_tool_json = std::size_t{1} << 20;  // bytes
constexpr std::size_t max_quoted_json = 40;                  // bytes of JSON in errors

std::string quoted_json(const RequestJson& value) {
  return escape(value.dump(-1, ' ', false, RequestJson::error_handler_t::replace), max_quoted_json);
}

Result<void> check_tool_json(std::string_view text, std::string_view field) {
  if (text.size() > max_tool_json)
    return error("'{}' may have {} bytes, got {}", field, max_tool_json, text.size());
  return check_json(text, field);
}

/// Returns a member; null if it is absent or null. Fails if it has another type.
Result<const RequestJson*> member_of(const RequestJson& object, const char* name, JsonType type,
                                     std::string_view where) {
  const auto member = object.find(name);
  if (member == object.end() || member->is_null()) return nullptr;
  if (member->type() == type) return &*member;
  return error("'{}.{}' must be of type {}, got {}", where, name, RequestJson(type).type_name(),
               quoted_json(*member));
}

/// Returns the member "function" of {"type": "function", "function": {…}}.
Result<const RequestJson*> function_of(const RequestJson& value, std::string_view where) {
  if (!value.is_object()) return error("'{}' must be an object, got {}", where, quoted_json(value));
  SPECTR_TRY(const RequestJson* type, member_of(value, "type", JsonType::string, where));
  if (type != nullptr && *type != "function")
    return error("'{}.type' must be function, got {}", where, quoted_json(*type));
  SPECTR_TRY(const RequestJson* function, member_of(value, "function", JsonType::object, where));
  if (function == nullptr) return error("'{}.function' is missing", where);
  return function;
}

Result<std::string> name_in(const RequestJson& function, std::string_view where) {
  SPECTR_TRY(const RequestJson* name, member_of(function, "name", JsonType::string, where));
  if (name == nullptr) return error("'{}.name' is missing", where);
  return name->get<std::string>();
}

Result<void> read_function(const RequestJson& tool, const std::string& where, ToolUse& use) {
  SPECTR_TRY(const RequestJson* function, function_of(tool, where));
  FunctionDescription described;
  described.where = where + ".function";
  described.schema = described.where + ".parameters";
  SPECTR_TRY(described.name, name_in(*function, described.where));
  SPECTR_TRY(const RequestJson* description,
             member_of(*function, "description", JsonType::string, described.where));
  if (description != nullptr) described.description = description->get<std::string>();
  SPECTR_TRY(const RequestJson* schema,
             member_of(*function, "parameters", JsonType::object, described.where));
  if (schema != nullptr) described.parameters = schema->dump();
  SPECTR_TRY(const RequestJson* strict, member_of(*function, "strict", JsonType::boolean, described.where));
  described.strict = strict != nullptr && strict->get<bool>();
  return use.add(std::move(described));
}

Result<void> read_tool_choice(std::string_view choice, ToolUse& use) {
  if (choice.empty() || choice == "auto") return {};
  if (choice == "required") return use.require("");
  if (choice == "none") {
    use.choice = ToolUse::Choice::none;
    return {};
  }
  if (!choice.starts_with('{')) {
    return error("'tool_choice' must be auto, none, required or name a function, got '{}'",
                 escape(choice, max_quoted_json));
  }
  SPECTR_TRY_VOID(check_tool_json(choice, "tool_choice"));
  const RequestJson json = RequestJson::parse(choice);
  SPECTR_TRY(const RequestJson* function, function_of(json, "tool_choice"));
  SPECTR_TRY(std::string name, name_in(*function, "tool_choice.function"));
  if (name.empty()) return error("'tool_choice.function.name' is empty");
  return use.require(std::move(name));
}

}  // namespace

Result<ToolUse> read_tool_use(std::string_view tools, std::string_view choice) {
  ToolUse use;
  if (!tools.empty()) {
    SPECTR_TRY_VOID(check_tool_json(tools, "tools"));
    const RequestJson list = RequestJson::parse(tools);
    if (!list.is_array()) return error("'tools' must be a list, got {}", quoted_json(list));
    for (std::size_t i = 0; i < list.size(); ++i)
      SPECTR_TRY_VOID(read_function(list[i], fmt::format("tools[{}]", i), use));
  }
  SPECTR_TRY_VOID(read_tool_choice(choice, use));
  return use;
}

}  // namespace spectr
