#include "spectr/engine/rules/json_schema.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <set>
#include <span>
#include <utility>

#include "spectr/base/names.h"
#include "spectr/engine/rules/schema_parts.h"
#include "spectr/engine/rules/schema_rewrite.h"
#include "spectr/engine/rules/schema_values.h"

namespace spectr {
namespace {

constexpr std::size_t max_depth = 48;
constexpr std::size_t max_schemas = 10'000;
constexpr std::size_t max_pairs = 100'000;  // of schemas of oneOf
constexpr std::size_t max_name = 1000;      // bytes of a property's name
constexpr std::size_t max_chain = 100;      // of references that refer to nothing but a reference
constexpr double max_count = 1000;          // a bounded repetition is written out

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

constexpr std::span<const std::string_view> assertions[] = {scalar_keywords, object_keywords, array_keywords};

/// Whether numbers of a value are integers that the compiler would round.
bool has_large_integer(const Schema& value) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (value.is_number_unsigned()) return value.get<std::uint64_t>() > most;
  return value.is_structured() && std::any_of(value.begin(), value.end(), has_large_integer);
}

class Checker {
 public:
  explicit Checker(std::string_view field) : field_(field) {}

  Result<void> check(const Schema& schema) {
    SPECTR_TRY_VOID(visit(schema, "", 0));
    std::set<const Schema*> known;
    for (const auto& [one, place] : schemas_) known.insert(one);
    for (const auto& [one, place] : schemas_) {
      const Schema* reference = member(*one, "$ref");
      if (reference == nullptr || !reference->is_string()) continue;
      const auto& text = reference->get_ref<const std::string&>();
      if (!text.starts_with('#')) return refuse("$ref", place, "must refer to the schema itself (#…)");
      const Schema* target = referred_part(schema, text);
      std::size_t links = 0;
      for (const Schema* next = target; next != nullptr && links <= max_chain; ++links) {
        const Schema* further = member(*next, "$ref");
        if (further == nullptr || !further->is_string()) break;
        next = referred_part(schema, further->get_ref<const std::string&>());
      }
      if (links > max_chain && !endless_schema(schemas_))
        return refuse("$ref", place, fmt::format("begins a chain of more than {} references", max_chain));
      if (!known.contains(target))
        return refuse("$ref", place,
                      fmt::format("refers to '{}', which is not a schema of it", escape(text, max_shown)));
    }
    if (const auto place = endless_schema(schemas_))
      return error("'{}': no finite value fits the schema at '{}', which needs itself", field_,
                   shown(*place));
    return {};
  }

 private:
  Result<void> refuse(std::string_view keyword, const std::string& place, std::string_view why) const {
    return error("'{}': '{}' at '{}' {}", field_, keyword, shown(place), why);
  }

  static std::string shown(const std::string& place) {
    return escape(place.empty() ? "/" : place, max_shown);
  }

  Result<void> visit(const Schema& schema, const std::string& place, std::size_t depth) {
    if (depth > max_depth) return error("'{}' is nested deeper than {} schemas", field_, max_depth);
    if (schemas_.size() >= max_schemas) return error("'{}' has more than {} schemas", field_, max_schemas);
    schemas_.emplace_back(&schema, place);
    if (!schema.is_object()) return {};  // true, false, or what the compiler names
    SPECTR_TRY_VOID(check_keywords(schema, place));
    return for_each_part(schema, [&](const Schema& part, std::string_view keyword, const std::string& key) {
      return visit(part, fmt::format("{}/{}{}{}", place, keyword, key.empty() ? "" : "/", key), depth + 1);
    });
  }

  Result<void> check_keywords(const Schema& schema, const std::string& place) {
    for (const std::string_view name : never)
      if (schema.contains(name)) return refuse(name, place, "is not supported");
    if (const Schema* unique = member(schema, "uniqueItems"); unique != nullptr && *unique != false)
      return refuse("uniqueItems", place, "is not supported");
    if (!place.empty() && schema.contains("$id"))
      return refuse("$id", place, "is supported at the top alone");
    if (schema.contains("multipleOf") && types_of(schema) != std::set<std::string>{"integer"})
      return refuse("multipleOf", place, "is supported for the type integer alone");
    for (const std::string_view name : counts) {
      const Schema* count = member(schema, name);
      if (count != nullptr && count->is_number() && count->get<double>() > max_count)
        return refuse(name, place, fmt::format("must be at most {}, got {}", max_count, count->dump()));
    }
    if (const Schema* all = member(schema, "allOf"); all != nullptr && all->is_array() && all->size() > 1)
      return refuse("allOf", place, "with several schemas is not supported");
    if (const Schema* type = member(schema, "type"); type != nullptr && type->is_array() && type->empty())
      return refuse("type", place, "lists no type");
    for (const char* name : {"const", "enum"}) {
      const Schema* values = member(schema, name);
      if (values != nullptr && has_large_integer(*values))
        return refuse(name, place, "has an integer beyond 64 bits");
    }
    SPECTR_TRY_VOID(check_combination(schema, place));
    SPECTR_TRY_VOID(check_object(schema, place));
    return check_exclusive(schema, place);
  }

  /// Refuses keywords of objects that are kept only if other properties are excluded, or that change what
  /// the listed ones mean.
  Result<void> check_object(const Schema& schema, const std::string& place) const {
    if (const Schema* properties = member(schema, "properties");
        properties != nullptr && properties->is_object()) {
      for (const auto& [name, one] : properties->items())
        if (name.size() > max_name)
          return refuse(
              "properties", place,
              fmt::format("has a name of {} bytes, at most {} are supported", name.size(), max_name));
    }
    const Schema *others = member(schema, "additionalProperties"), *names = member(schema, "propertyNames");
    const bool is_closed = others != nullptr && *others == false;
    const Schema* patterns = member(schema, "patternProperties");
    if (patterns != nullptr &&
        (!is_closed || patterns->size() > 1 || schema.contains("properties") || names != nullptr))
      return refuse(
          "patternProperties", place,
          "is supported with one pattern, beside 'additionalProperties': false, and without 'properties'");
    if (names != nullptr && (is_closed || schema.contains("properties")))
      return refuse("propertyNames", place, "is supported only if all properties are additional");
    if (names != nullptr && !describes_names(*names))
      return refuse("propertyNames", place, "must be a schema of the type string");
    // A name may come twice among those that are not listed, which counts once.
    const Schema* least = member(schema, "minProperties");
    if (least != nullptr && (!is_closed || patterns != nullptr) && *least != 0 && *least != 1)
      return refuse(
          "minProperties", place,
          "is supported up to the required properties, beside 'additionalProperties': false, or as 1");
    return {};
  }

  static bool describes_names(const Schema& names) {
    const auto is_text = [](const Schema& value) { return value.is_string(); };
    if (const Schema* value = member(names, "const")) return value->is_string();
    if (const Schema* values = member(names, "enum"))
      return values->is_array() && std::all_of(values->begin(), values->end(), is_text);
    for (const std::string_view name : whole_keywords)
      if (names.contains(name)) return false;
    return names.is_object() &&
           (types_of(names) == std::set<std::string>{"string"} || !names.contains("type"));
  }

  /// Refuses keywords that would be ignored next to one that decides.
  Result<void> check_combination(const Schema& schema, const std::string& place) const {
    const auto decides =
        std::ranges::find_if(whole_keywords, [&](std::string_view name) { return schema.contains(name); });
    if (decides == std::end(whole_keywords)) return check_type(schema, place);
    for (const std::string_view name : whole_keywords)
      if (name != *decides && schema.contains(name))
        return refuse(name, place, fmt::format("beside '{}' is not supported", *decides));
    for (const auto& names : assertions) {
      for (const std::string_view name : names)
        if (schema.contains(name))
          return refuse(name, place, fmt::format("beside '{}' is not supported", *decides));
    }
    const Schema* branches = member(schema, *decides);
    if (!schema.contains("type") || *decides == "const" || *decides == "enum") return {};
    // A type beside branches that all have one of its own says nothing new.
    std::set<std::string> types = types_of(schema);
    const auto has_type = [&types](const Schema& branch) {
      const std::set<std::string> own = types_of(branch);
      return !own.empty() && std::ranges::includes(types, own);
    };
    if (branches->is_array() && std::all_of(branches->begin(), branches->end(), has_type)) return {};
    return refuse("type", place, fmt::format("beside '{}' is not supported", *decides));
  }

  /// Refuses keywords that say something about values of some types, while the schema does not name its own.
  Result<void> check_type(const Schema& schema, const std::string& place) const {
    if (schema.contains("type") || place.ends_with("/propertyNames")) return {};
    for (const auto& names : assertions) {
      for (const std::string_view name : names)
        if (schema.contains(name)) return refuse(name, place, "needs a 'type' beside it");
    }
    return {};
  }

  /// oneOf is compiled as anyOf, which is the same where no value fits two schemas.
  Result<void> check_exclusive(const Schema& schema, const std::string& place) {
    const Schema* branches = member(schema, "oneOf");
    if (branches == nullptr || !branches->is_array()) return {};
    pairs_ += branches->size() * branches->size() / 2;
    if (pairs_ > max_pairs)
      return refuse("oneOf", place,
                    fmt::format("makes more than {} pairs to compare: use 'anyOf'", max_pairs));
    for (std::size_t i = 0; i < branches->size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (!exclude_each_other((*branches)[i], (*branches)[j]))
          return refuse("oneOf", place, "has schemas that may fit the same value: use 'anyOf'");
      }
    }
    return {};
  }

  static constexpr std::size_t max_shown = 200;  // characters of a place
  std::string_view field_;
  PlacedSchemas schemas_;
  std::size_t pairs_ = 0;  // of schemas of oneOf, compared
};

}  // namespace

Result<std::string> exact_json_schema(const std::string& schema, std::string_view field, SchemaStyle style) {
  // Deeper nesting than that of schemas is refused before anything recurses.
  std::size_t depth = 0;
  bool is_too_deep = false;
  using Ordered = nlohmann::ordered_json;
  auto parsed = Ordered::parse(
      schema,
      [&](int level, Ordered::parse_event_t, Ordered&) {
        depth = std::max(depth, static_cast<std::size_t>(level));
        is_too_deep = is_too_deep || depth > 4 * max_depth;
        return !is_too_deep;
      },
      false);
  if (is_too_deep) return error("'{}' is nested deeper than {} values", field, 4 * max_depth);
  if (parsed.is_discarded()) return error("'{}' is not JSON", field);
  if (!parsed.is_object() && !parsed.is_boolean())
    return error("'{}' must be a JSON schema, an object or true", field);
  SPECTR_TRY_VOID(rewrite_schema(parsed, field, style));
  SPECTR_TRY_VOID(Checker(field).check(Schema(parsed)));
  rewrite_exclusive(parsed);
  return parsed.dump();
}

}  // namespace spectr
