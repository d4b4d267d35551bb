#include "spectr/text/chat/tool.h"

#include <nlohmann/json.hpp>

#include "spectr/text/chat/tool_schema.h"

namespace spectr {

std::string Tool::parameters() const {
  const auto parsed = ToolSchema::parse(definition, nullptr, false);
  const ToolSchema::json_pointer place("/function/parameters");
  return parsed.is_object() && parsed.contains(place) ? parsed[place].dump() : "{}";
}

ToolSet::ToolSet(std::span<const Tool> tools) {
  SchemaBudget budget;
  for (const Tool& tool : tools) {
    Known& known = tools_[tool.name];
    known.schema = tool.parameters();
    const auto root = ToolSchema::parse(known.schema, nullptr, false);
    if (!root.is_object() || !root.contains("properties") || !root["properties"].is_object()) continue;
    for (const auto& [name, schema] : root["properties"].items()) {
      if (const auto kinds = schema_value_kinds(schema, root, budget)) known.kinds.emplace(name, *kinds);
    }
  }
}

std::string_view ToolSet::prefix_of(std::string_view text) const {
  const auto goes_on = [](std::string_view rest) {
    constexpr std::string_view others = "_-";
    const char c = rest.empty() ? ' ' : rest.front();
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || others.contains(c);
  };
  std::string_view longest;
  for (const auto& [name, known] : tools_) {
    if (name.size() > longest.size() && text.starts_with(name) && !goes_on(text.substr(name.size())))
      longest = name;
  }
  return longest;
}

std::optional<unsigned> ToolSet::kinds_of(std::string_view tool, std::string_view parameter) const {
  const auto found = tools_.find(tool);
  if (found == tools_.end()) return std::nullopt;
  const auto known = found->second.kinds.find(parameter);
  return known == found->second.kinds.end() ? std::nullopt : std::optional(known->second);
}

std::string_view ToolSet::parameters_of(std::string_view tool) const {
  const auto found = tools_.find(tool);
  return found == tools_.end() ? "{}" : std::string_view(found->second.schema);
}

}  // namespace spectr
