#include "spectr/text/chat/tool.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "spectr/text/chat/tool_schema.h"

namespace spectr {

std::string Tool::parameters() const {
  const auto parsed = ToolSchema::parse(definition, nullptr, false);
  const ToolSchema::json_pointer place("/function/parameters");
  return parsed.is_object() && parsed.contains(place) ? parsed[place].dump() : "{}";
}

ToolSet::ToolSet(std::span<const Tool> tools) {
  for (const Tool& tool : tools) {
    Parameters& known = tools_[tool.name];
    const auto definition = ToolSchema::parse(tool.definition, nullptr, false);
    const ToolSchema::json_pointer place("/function/parameters");
    if (!definition.is_object() || !definition.contains(place / "properties")) continue;
    const ToolSchema& root = definition[place];
    if (!root["properties"].is_object()) continue;
    for (const auto& [name, schema] : root["properties"].items()) {
      if (const auto accepts = schema_accepts_text(schema, root)) known.emplace(name, *accepts);
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
  for (const auto& [name, parameters] : tools_) {
    if (name.size() > longest.size() && text.starts_with(name) && !goes_on(text.substr(name.size())))
      longest = name;
  }
  return longest;
}

std::optional<bool> ToolSet::accepts_text(std::string_view tool, std::string_view parameter) const {
  const auto found = tools_.find(tool);
  if (found == tools_.end()) return std::nullopt;
  const auto known = found->second.find(parameter);
  return known == found->second.end() ? std::nullopt : std::optional(known->second);
}

}  // namespace spectr
