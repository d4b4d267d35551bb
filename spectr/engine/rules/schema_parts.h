#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

// Shared by the checks of JSON schemas.
namespace spectr {

using Schema = nlohmann::json;

// Keywords whose value contains schemas by name, in a list, or is one.
inline constexpr std::string_view schemas_by_name[] = {"properties", "patternProperties", "$defs",
                                                       "definitions"};
inline constexpr std::string_view schemas_in_lists[] = {"anyOf", "oneOf", "allOf", "prefixItems"};
inline constexpr std::string_view single_schemas[] = {"items", "additionalProperties", "propertyNames",
                                                      "unevaluatedProperties", "unevaluatedItems"};
/// Keywords that exclude assertions next to them.
inline constexpr std::string_view whole_keywords[] = {"$ref", "const", "enum", "anyOf", "oneOf", "allOf"};
inline constexpr std::string_view object_keywords[] = {
    "properties",    "required",      "additionalProperties", "patternProperties",
    "propertyNames", "minProperties", "maxProperties",        "unevaluatedProperties"};
inline constexpr std::string_view array_keywords[] = {"items",    "prefixItems", "minItems",
                                                      "maxItems", "uniqueItems", "unevaluatedItems"};
inline constexpr std::string_view scalar_keywords[] = {"pattern",          "minLength",        "maxLength",
                                                       "format",           "minimum",          "maximum",
                                                       "exclusiveMinimum", "exclusiveMaximum", "multipleOf"};

/// Returns a member of an object; null if `schema` is not an object or has no such member.
template <class Json>
auto* member(Json& schema, std::string_view name) {
  const auto found = schema.is_object() ? schema.find(std::string(name)) : schema.end();
  return schema.is_object() && found != schema.end() ? &*found : nullptr;
}

/// Calls `visit(part, keyword, key)` with each schema directly within a schema; `key` is its name or number
/// if the keyword has several. Stops at the first error, which it returns.
template <class Json, class Visit>
auto for_each_part(Json& schema, const Visit& visit) -> decltype(visit(schema, "", "")) {
  for (const std::string_view name : schemas_by_name) {
    auto* all = member(schema, name);
    if (all == nullptr || !all->is_object()) continue;
    for (auto it = all->begin(); it != all->end(); ++it)
      if (auto done = visit(it.value(), name, it.key()); !done) return done;
  }
  for (const std::string_view name : schemas_in_lists) {
    auto* all = member(schema, name);
    if (all == nullptr || !all->is_array()) continue;
    for (std::size_t i = 0; i < all->size(); ++i)
      if (auto done = visit((*all)[i], name, std::to_string(i)); !done) return done;
  }
  for (const std::string_view name : single_schemas) {
    if (auto* one = member(schema, name))
      if (auto done = visit(*one, name, ""); !done) return done;
  }
  return {};
}

/// The types that a schema names; empty: any.
std::set<std::string> types_of(const Schema& schema);

/// True if no value fits both schemas: their types differ, or the values that they list, or those of a
/// property that both require. Takes the comparisons that this needs from `budget`; if there are not enough,
/// it becomes 0 and the result is false.
bool exclude_each_other(const Schema& a, const Schema& b, std::size_t& budget);

/// The part of a schema that "#/…" refers to; null if there is none.
const Schema* referred_part(const Schema& root, const std::string& reference);

/// True if a value has one of the schema's types, or the schema names none.
template <class Json>
bool is_of_type(const Json& value, const Json& type) {
  if (type.is_array()) {
    return std::any_of(type.begin(), type.end(),
                       [&value](const Json& one) { return is_of_type(value, one); });
  }
  if (!type.is_string()) return true;
  const auto& name = type.template get_ref<const std::string&>();
  if (name == "number") return value.is_number();
  if (name == "integer") {
    return value.is_number_integer() ||
           (value.is_number_float() &&
            value.template get<double>() == std::floor(value.template get<double>()));
  }
  return name == value.type_name();
}

}  // namespace spectr
