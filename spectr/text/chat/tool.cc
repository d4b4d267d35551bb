#include "spectr/text/chat/tool.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace spectr {
namespace {

using Schema = nlohmann::ordered_json;

constexpr int max_schema_depth = 8;

/// Whether a schema accepts a string. None: it does not say.
std::optional<bool> schema_accepts_text(const Schema& schema, int depth = 0) {
  if (!schema.is_object() || depth > max_schema_depth) return std::nullopt;
  const auto is_text = [](const Schema& type) { return type == "string"; };
  if (const auto type = schema.find("type"); type != schema.end())
    return type->is_array() ? std::ranges::any_of(*type, is_text) : is_text(*type);
  if (const auto values = schema.find("enum"); values != schema.end() && values->is_array())
    return std::ranges::any_of(*values, [](const Schema& value) { return value.is_string(); });
  std::optional<bool> accepts;
  for (const char* const name : {"anyOf", "oneOf"}) {
    const auto members = schema.find(name);
    if (members == schema.end() || !members->is_array()) continue;
    for (const Schema& member : *members) {
      if (const auto one = schema_accepts_text(member, depth + 1)) accepts = *one || accepts.value_or(false);
    }
  }
  return accepts;
}

}  // namespace

ToolSet::ToolSet(std::span<const Tool> tools) {
  for (const Tool& tool : tools) {
    Parameters& known = tools_[tool.name];
    const auto definition = Schema::parse(tool.definition, nullptr, false);
    const Schema::json_pointer place("/function/parameters/properties");
    if (!definition.is_object() || !definition.contains(place) || !definition[place].is_object()) continue;
    for (const auto& [name, schema] : definition[place].items()) {
      if (const auto accepts = schema_accepts_text(schema)) known.emplace(name, *accepts);
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
