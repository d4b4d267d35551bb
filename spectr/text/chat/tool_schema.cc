#include "spectr/text/chat/tool_schema.h"

#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "spectr/text/chat/call_space.h"

namespace spectr {
namespace {

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

/// Returns the units of a visit. The search for a definition is linear, but fast.
std::size_t cost_of_visit(const ToolSchema& schema, const ToolSchema& root) {
  constexpr std::size_t definitions_per_unit = 16;
  std::size_t cost = 1;
  for (const char* const name : {"type", "enum"}) {
    if (const auto list = schema.find(name); list != schema.end()) cost += list->size();
  }
  for (const char* const name : {"$defs", "definitions"}) {
    const auto all = schema.contains("$ref") ? root.find(name) : root.end();
    if (all != root.end()) cost += all->size() / definitions_per_unit;
  }
  return cost;
}

/// Returns the kinds that a schema names itself, not by its alternatives; none if it names none.
std::optional<ValueKinds> own_kinds(const ToolSchema& schema) {
  if (const auto value = schema.find("const"); value != schema.end()) return kind_of_value(*value);
  if (const auto type = schema.find("type"); type != schema.end()) {
    ValueKinds kinds = kinds_of_type(*type);
    if (type->is_array()) {
      for (const ToolSchema& name : *type) kinds |= kinds_of_type(name);
    }
    return kinds;
  }
  const auto values = schema.find("enum");
  if (values == schema.end() || !values->is_array()) return std::nullopt;
  ValueKinds kinds = 0;
  for (const ToolSchema& value : *values) kinds |= kind_of_value(value);
  return kinds;
}

}  // namespace

const ToolSchema* referred_schema(const ToolSchema& schema, const ToolSchema& root) {
  const auto reference = schema.find("$ref");
  if (reference == schema.end() || !reference->is_string()) return nullptr;
  const std::string_view place = reference->get_ref<const std::string&>();
  for (const std::string name : {"$defs", "definitions"}) {
    const std::string prefix = "#/" + name + "/";
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

bool SchemaBudget::take(std::size_t count) {
  const bool has_enough = count < left_;
  left_ = has_enough ? left_ - count : 0;
  return has_enough;
}

std::optional<ValueKinds> schema_value_kinds(const ToolSchema& schema, const ToolSchema& root,
                                             SchemaBudget& budget) {
  std::optional<ValueKinds> kinds;
  std::vector<const ToolSchema*> left = {&schema};
  std::unordered_set<const ToolSchema*> visited;
  while (!left.empty()) {
    const ToolSchema& one = *left.back();
    left.pop_back();
    if (!budget.take(cost_of_visit(one, root))) return std::nullopt;
    if (!one.is_object() || !visited.insert(&one).second) continue;
    if (const ToolSchema* referred = referred_schema(one, root)) {
      left.push_back(referred);
    } else if (const auto own = own_kinds(one)) {
      kinds = kinds.value_or(0) | *own;
    } else {
      for (const char* const name : {"anyOf", "oneOf"}) {
        const auto members = one.find(name);
        if (members == one.end() || !members->is_array()) continue;
        for (const ToolSchema& member : *members) left.push_back(&member);
      }
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

std::optional<bool> schema_accepts_text(const ToolSchema& schema, const ToolSchema& root,
                                        SchemaBudget& budget) {
  const auto kinds = schema_value_kinds(schema, root, budget);
  return kinds ? std::optional((*kinds & text_value_kind) != 0) : std::nullopt;
}

}  // namespace spectr
