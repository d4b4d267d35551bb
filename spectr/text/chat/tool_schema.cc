#include "spectr/text/chat/tool_schema.h"

#include <algorithm>
#include <string>

namespace spectr {
namespace {

constexpr int max_schema_depth = 8;

}  // namespace

const ToolSchema* referred_schema(const ToolSchema& schema, const ToolSchema& root) {
  const auto reference = schema.find("$ref");
  if (reference == schema.end() || !reference->is_string()) return nullptr;
  for (const std::string name : {"$defs", "definitions"}) {
    const std::string prefix = "#/" + name + "/", place = *reference;
    const auto all = root.find(name);
    if (!place.starts_with(prefix) || all == root.end() || !all->is_object()) continue;
    if (const auto found = all->find(place.substr(prefix.size())); found != all->end()) return &*found;
  }
  return nullptr;
}

std::optional<bool> schema_accepts_text(const ToolSchema& schema, const ToolSchema& root, int depth) {
  if (!schema.is_object() || depth > max_schema_depth) return std::nullopt;
  if (const ToolSchema* referred = referred_schema(schema, root))
    return schema_accepts_text(*referred, root, depth + 1);
  if (const auto value = schema.find("const"); value != schema.end()) return value->is_string();
  const auto is_text = [](const ToolSchema& type) { return type == "string"; };
  if (const auto type = schema.find("type"); type != schema.end())
    return type->is_array() ? std::ranges::any_of(*type, is_text) : is_text(*type);
  if (const auto values = schema.find("enum"); values != schema.end() && values->is_array())
    return std::ranges::any_of(*values, [](const ToolSchema& value) { return value.is_string(); });
  std::optional<bool> accepts;
  for (const char* const name : {"anyOf", "oneOf"}) {
    const auto members = schema.find(name);
    if (members == schema.end() || !members->is_array()) continue;
    for (const ToolSchema& member : *members) {
      if (const auto one = schema_accepts_text(member, root, depth + 1))
        accepts = *one || accepts.value_or(false);
    }
  }
  return accepts;
}

}  // namespace spectr
