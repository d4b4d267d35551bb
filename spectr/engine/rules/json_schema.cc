#include "spectr/engine/rules/json_schema.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "spectr/base/names.h"

namespace spectr {
namespace {

using Schema = nlohmann::json;

constexpr std::size_t max_depth = 48;
constexpr std::size_t max_schemas = 10'000;
constexpr double max_count = 1000;  // bounded repetitions are expanded

constexpr std::string_view never[] = {"not",
                                      "if",
                                      "then",
                                      "else",
                                      "contains",
                                      "dependentRequired",
                                      "minContains",
                                      "maxContains",
                                      "dependentSchemas",
                                      "$dynamicRef",
                                      "$recursiveRef",
                                      "dependencies",
                                      "additionalItems"};
constexpr std::string_view counts[] = {"minLength", "maxLength",     "minItems",
                                       "maxItems",  "minProperties", "maxProperties"};
// Keywords that determine a schema on their own.
constexpr std::string_view whole[] = {"$ref", "const", "enum", "anyOf", "oneOf", "allOf"};
constexpr std::string_view assertions[] = {"properties",        "required",         "additionalProperties",
                                           "patternProperties", "propertyNames",    "items",
                                           "prefixItems",       "pattern",          "minLength",
                                           "maxLength",         "minimum",          "maximum",
                                           "exclusiveMinimum",  "exclusiveMaximum", "multipleOf",
                                           "minItems",          "maxItems",         "minProperties",
                                           "maxProperties",     "uniqueItems",      "unevaluatedProperties",
                                           "unevaluatedItems"};
constexpr std::string_view schemas_by_name[] = {"properties", "patternProperties", "$defs", "definitions"};
constexpr std::string_view schemas_in_lists[] = {"anyOf", "oneOf", "allOf", "prefixItems"};
constexpr std::string_view single_schemas[] = {"items", "additionalProperties", "propertyNames",
                                               "unevaluatedProperties", "unevaluatedItems"};

/// Returns a member of an object; null if it is not an object or has no such member.
const Schema* member(const Schema& schema, std::string_view name) {
  const auto found = schema.is_object() ? schema.find(name) : schema.end();
  return schema.is_object() && found != schema.end() ? &*found : nullptr;
}

/// Returns the types of a schema; empty: any.
std::set<std::string> types_of(const Schema& schema) {
  std::set<std::string> types;
  const Schema* type = member(schema, "type");
  if (type == nullptr) return types;
  for (const Schema& one : type->is_array() ? *type : Schema::array({*type}))
    if (one.is_string()) types.insert(one.get<std::string>());
  if (types.contains("number")) types.insert("integer");
  return types;
}

/// Returns the values that a schema lists; null if it lists none.
const Schema* listed(const Schema& schema, Schema& storage) {
  if (const Schema* value = member(schema, "const")) return &(storage = Schema::array({*value}));
  const Schema* values = member(schema, "enum");
  return values != nullptr && values->is_array() ? values : nullptr;
}

template <class Values>
bool are_disjoint(const Values& a, const Values& b) {
  return std::none_of(a.begin(), a.end(),
                      [&b](const auto& one) { return std::find(b.begin(), b.end(), one) != b.end(); });
}

bool requires_property(const Schema& schema, const std::string& name) {
  const Schema* required = member(schema, "required");
  return required != nullptr && required->is_array() &&
         std::find(required->begin(), required->end(), Schema(name)) != required->end();
}

/// True if no value fits both schemas: their types are disjoint, or their listed values are, or those of a
/// property that both require.
bool exclude_each_other(const Schema& a, const Schema& b) {
  Schema of_a, of_b;
  const Schema *values_a = listed(a, of_a), *values_b = listed(b, of_b);
  if (values_a != nullptr && values_b != nullptr) return are_disjoint(*values_a, *values_b);
  const std::set<std::string> types_a = types_of(a), types_b = types_of(b);
  if (!types_a.empty() && !types_b.empty() && are_disjoint(types_a, types_b)) return true;
  const Schema *properties_a = member(a, "properties"), *properties_b = member(b, "properties");
  if (properties_a == nullptr || properties_b == nullptr || !properties_a->is_object()) return false;
  if (types_a != std::set<std::string>{"object"} || types_b != types_a) return false;
  for (const auto& [name, property] : properties_a->items()) {
    const Schema* other = member(*properties_b, name);
    if (other == nullptr || !requires_property(a, name) || !requires_property(b, name)) continue;
    values_a = listed(property, of_a);
    values_b = listed(*other, of_b);
    if (values_a != nullptr && values_b != nullptr && are_disjoint(*values_a, *values_b)) return true;
  }
  return false;
}

class Checker {
 public:
  explicit Checker(std::string_view field) : field_(field) {}

  Result<void> check(const Schema& schema, const std::string& place, std::size_t depth) {
    if (depth > max_depth) return error("'{}' is nested deeper than {} schemas", field_, max_depth);
    if (++schemas_ > max_schemas) return error("'{}' has more than {} schemas", field_, max_schemas);
    if (!schema.is_object()) return {};  // true, false, or an error of the compiler
    SPECTR_TRY_VOID(check_keywords(schema, place));
    for (const std::string_view name : schemas_by_name) {
      const Schema* all = member(schema, name);
      if (all == nullptr || !all->is_object()) continue;
      for (const auto& [key, one] : all->items())
        SPECTR_TRY_VOID(check(one, fmt::format("{}/{}/{}", place, name, key), depth + 1));
    }
    for (const std::string_view name : schemas_in_lists) {
      const Schema* all = member(schema, name);
      if (all == nullptr || !all->is_array()) continue;
      for (std::size_t i = 0; i < all->size(); ++i)
        SPECTR_TRY_VOID(check((*all)[i], fmt::format("{}/{}/{}", place, name, i), depth + 1));
    }
    for (const std::string_view name : single_schemas) {
      if (const Schema* one = member(schema, name))
        SPECTR_TRY_VOID(check(*one, fmt::format("{}/{}", place, name), depth + 1));
    }
    return {};
  }

 private:
  Result<void> refuse(std::string_view keyword, const std::string& place, std::string_view why) const {
    constexpr std::size_t max_shown = 200;
    return error("'{}': '{}' at '{}' {}", field_, keyword, escape(place.empty() ? "/" : place, max_shown),
                 why);
  }

  Result<void> check_keywords(const Schema& schema, const std::string& place) const {
    for (const std::string_view name : never)
      if (schema.contains(name)) return refuse(name, place, "is not supported");
    if (const Schema* unique = member(schema, "uniqueItems"); unique != nullptr && *unique != false)
      return refuse("uniqueItems", place, "is not supported");
    if (const Schema* ref = member(schema, "$ref"); ref != nullptr && ref->is_string()) {
      if (!ref->get_ref<const std::string&>().starts_with('#'))
        return refuse("$ref", place, "must refer to the schema itself (#…)");
    }
    if (schema.contains("multipleOf") && types_of(schema) != std::set<std::string>{"integer"})
      return refuse("multipleOf", place, "is supported for the type integer alone");
    for (const std::string_view name : counts) {
      const Schema* count = member(schema, name);
      if (count != nullptr && count->is_number() && count->get<double>() > max_count)
        return refuse(name, place, fmt::format("must be at most {}, got {}", max_count, count->dump()));
    }
    if (const Schema* all = member(schema, "allOf"); all != nullptr && all->is_array() && all->size() > 1)
      return refuse("allOf", place, "with several schemas is not supported");
    SPECTR_TRY_VOID(check_combination(schema, place));
    return check_exclusive(schema, place);
  }

  /// Refuses keywords that would be ignored next to one that determines the schema.
  Result<void> check_combination(const Schema& schema, const std::string& place) const {
    const auto decides =
        std::ranges::find_if(whole, [&](std::string_view name) { return schema.contains(name); });
    if (decides == std::end(whole)) return {};
    for (const std::string_view name : whole)
      if (name != *decides && schema.contains(name))
        return refuse(name, place, fmt::format("beside '{}' is not supported", *decides));
    for (const std::string_view name : assertions)
      if (schema.contains(name))
        return refuse(name, place, fmt::format("beside '{}' is not supported", *decides));
    const Schema* branches = member(schema, *decides);
    if (!schema.contains("type") || *decides == "const" || *decides == "enum") return {};
    // A type next to branches that all have their own types is redundant.
    const auto has_type = [](const Schema& branch) { return !types_of(branch).empty(); };
    if (branches->is_array() && std::all_of(branches->begin(), branches->end(), has_type)) return {};
    return refuse("type", place, fmt::format("beside '{}' is not supported", *decides));
  }

  /// oneOf is compiled as anyOf, which is equivalent if no value fits two schemas.
  Result<void> check_exclusive(const Schema& schema, const std::string& place) const {
    const Schema* branches = member(schema, "oneOf");
    if (branches == nullptr || !branches->is_array()) return {};
    for (std::size_t i = 0; i < branches->size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (!exclude_each_other((*branches)[i], (*branches)[j]))
          return refuse("oneOf", place, "has schemas that may fit the same value: use 'anyOf'");
      }
    }
    return {};
  }

  std::string_view field_;
  std::size_t schemas_ = 0;
};

}  // namespace

Result<void> check_json_schema(const std::string& schema, std::string_view field) {
  // Too deep nesting of any kind is refused before anything recurses.
  std::size_t depth = 0;
  bool is_too_deep = false;
  const auto parsed = Schema::parse(
      schema,
      [&](int level, Schema::parse_event_t, Schema&) {
        depth = std::max(depth, static_cast<std::size_t>(level));
        is_too_deep = is_too_deep || depth > 4 * max_depth;
        return !is_too_deep;
      },
      false);
  if (is_too_deep) return error("'{}' is nested deeper than {} values", field, 4 * max_depth);
  if (parsed.is_discarded()) return error("'{}' is not JSON", field);
  if (!parsed.is_object() && !parsed.is_boolean())
    return error("'{}' must be a JSON schema, an object or true", field);
  return Checker(field).check(parsed, "", 0);
}

}  // namespace spectr
