#include "spectr/text/chat/tool_schema.h"

#include <string>
#include <utility>

#include "spectr/text/chat/call_space.h"

namespace spectr {
namespace {

constexpr int max_schema_depth = 8;

/// Returns the kinds of values of a type's name; none if it is no known name.
ValueKinds kinds_of_type(const ToolSchema& name) {
  constexpr std::pair<const char*, ValueKinds> types[] = {{"string", text_value_kind},
                                                          {"integer", integer_value_kind},
                                                          {"number", integer_value_kind | number_value_kind},
                                                          {"boolean", boolean_value_kind},
                                                          {"null", null_value_kind},
                                                          {"object", object_value_kind},
                                                          {"array", list_value_kind}};
  for (const auto& [type, kinds] : types) {
    if (name == type) return kinds;
  }
  return 0;
}

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

ValueKinds kind_of_value(const ToolSchema& value) {
  if (value.is_string()) return text_value_kind;
  if (value.is_number_integer()) return integer_value_kind;
  if (value.is_number()) return number_value_kind;
  if (value.is_boolean()) return boolean_value_kind;
  if (value.is_null()) return null_value_kind;
  return value.is_object() ? object_value_kind : list_value_kind;
}

std::optional<ValueKinds> schema_value_kinds(const ToolSchema& schema, const ToolSchema& root, int depth) {
  if (!schema.is_object() || depth > max_schema_depth) return std::nullopt;
  if (const ToolSchema* referred = referred_schema(schema, root))
    return schema_value_kinds(*referred, root, depth + 1);
  if (const auto value = schema.find("const"); value != schema.end()) return kind_of_value(*value);
  if (const auto type = schema.find("type"); type != schema.end()) {
    ValueKinds kinds = kinds_of_type(*type);
    for (const ToolSchema& name : type->is_array() ? *type : ToolSchema::array())
      kinds |= kinds_of_type(name);
    return kinds;
  }
  std::optional<ValueKinds> kinds;
  const auto add = [&kinds](ValueKinds more) { kinds = kinds.value_or(0) | more; };
  if (const auto values = schema.find("enum"); values != schema.end() && values->is_array()) {
    add(0);
    for (const ToolSchema& value : *values) add(kind_of_value(value));
    return kinds;
  }
  for (const char* const name : {"anyOf", "oneOf"}) {
    const auto members = schema.find(name);
    if (members == schema.end() || !members->is_array()) continue;
    for (const ToolSchema& member : *members) {
      if (const auto some = schema_value_kinds(member, root, depth + 1)) add(*some);
    }
  }
  return kinds;
}

ToolSchema value_of_text(std::string_view text, ValueKinds kinds) {
  if (kinds == text_value_kind) return text;
  const std::string_view word = without_space(text);
  ToolSchema value = ToolSchema::parse(word, nullptr, false);
  if (word == "True" || word == "False") value = word == "True";
  if (word == "None") value = nullptr;
  if (value.is_discarded()) return text;
  const bool accepts_text = (kinds & text_value_kind) != 0;
  if (value.is_string()) return accepts_text ? ToolSchema(text) : value;
  // A value of another kind than the schema's is left to the tool, unless it may be a string.
  return accepts_text && (kind_of_value(value) & kinds) == 0 ? ToolSchema(text) : value;
}

std::optional<bool> schema_accepts_text(const ToolSchema& schema, const ToolSchema& root) {
  const auto kinds = schema_value_kinds(schema, root);
  return kinds ? std::optional((*kinds & text_value_kind) != 0) : std::nullopt;
}

}  // namespace spectr
