#include "spectr/engine/rules/json_schema.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <exception>
#include <limits>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "spectr/base/names.h"
#include "spectr/engine/rules/schema_parts.h"
#include "spectr/engine/rules/schema_rewrite.h"
#include "spectr/engine/rules/schema_values.h"

namespace spectr {
namespace {

constexpr std::size_t max_depth = 48;
constexpr std::size_t max_levels = 4 * max_depth;  // of values, which are nested deeper than schemas
constexpr std::size_t max_schemas = 10'000;
constexpr std::size_t max_values = 100'000;         // of the whole document
constexpr std::size_t max_members = 10'000;         // of an object
constexpr std::size_t max_comparisons = 1'000'000;  // of schemas of oneOf
constexpr std::size_t max_name = 1000;              // bytes of a property's name
constexpr std::size_t max_chain = 100;              // of references that refer to nothing but a reference
constexpr double max_count = 1000;                  // a bounded repetition is written out

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

/// True if a value contains an integer that the compiler would round.
bool has_large_integer(const Schema& value) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (value.is_number_unsigned()) return value.get<std::uint64_t>() > most;
  return value.is_structured() && std::any_of(value.begin(), value.end(), has_large_integer);
}

class Checker {
 public:
  explicit Checker(std::string_view field) : field_(field) {}

  Result<void> check(const Schema& schema) {
    SPECTR_TRY_VOID(visit({.schema = &schema}, 0));
    References references;
    SPECTR_TRY_VOID(follow_references(schema, references));
    if (const auto endless = endless_schema(schemas_, references)) {
      return error("'{}': no finite value fits the schema at '{}', which needs itself", field_,
                   place_of(*endless));
    }
    for (std::size_t i = 0; i < schemas_.size(); ++i) {
      std::size_t links = 0;
      for (auto next = references.find(schemas_[i].schema); next != references.end();
           next = references.find(next->second))
        if (++links > max_chain)
          return refuse("$ref", i, fmt::format("begins a chain of more than {} references", max_chain));
    }
    return {};
  }

 private:
  Result<void> refuse(std::string_view keyword, std::size_t at, std::string_view why) const {
    return error("'{}': '{}' at '{}' {}", field_, keyword, place_of(at), why);
  }

  /// The place of a schema in the document, for errors.
  std::string place_of(std::size_t at) const {
    std::string place;
    for (; at != 0; at = schemas_[at].parent) {
      const PlacedSchema& one = schemas_[at];
      place = fmt::format("/{}{}{}{}", one.keyword, one.key.empty() ? "" : "/", one.key, place);
    }
    return escape(place.empty() ? "/" : place, max_shown);
  }

  Result<void> visit(PlacedSchema placed, std::size_t depth) {
    if (depth > max_depth) return error("'{}' is nested deeper than {} schemas", field_, max_depth);
    if (schemas_.size() >= max_schemas) return error("'{}' has more than {} schemas", field_, max_schemas);
    const Schema& schema = *placed.schema;
    const std::size_t at = schemas_.size();
    schemas_.push_back(std::move(placed));
    if (!schema.is_object()) return {};  // true, false, or what the compiler names
    SPECTR_TRY_VOID(check_keywords(schema, at));
    return for_each_part(schema, [&](const Schema& part, std::string_view keyword, const std::string& key) {
      return visit({&part, at, keyword, key}, depth + 1);
    });
  }

  Result<void> follow_references(const Schema& root, References& references) const {
    std::unordered_map<const Schema*, std::size_t> known;
    for (std::size_t i = 0; i < schemas_.size(); ++i) known.emplace(schemas_[i].schema, i);
    for (std::size_t i = 0; i < schemas_.size(); ++i) {
      const Schema* reference = member(*schemas_[i].schema, "$ref");
      if (reference == nullptr || !reference->is_string()) continue;
      const auto& text = reference->get_ref<const std::string&>();
      if (!text.starts_with('#')) return refuse("$ref", i, "must refer to the schema itself (#…)");
      const auto target = known.find(referred_part(root, text));
      if (target == known.end()) {
        return refuse("$ref", i,
                      fmt::format("refers to '{}', which is not a schema of it", escape(text, max_shown)));
      }
      // It is compiled as anyOf, so that the reference would lead nowhere.
      for (std::size_t part = target->second; part != 0; part = schemas_[part].parent) {
        if (schemas_[part].keyword == "oneOf")
          return refuse("$ref", i, "refers to a part of a 'oneOf', which is not supported: use '$defs'");
      }
      references.emplace(schemas_[i].schema, target->first);
    }
    return {};
  }

  Result<void> check_keywords(const Schema& schema, std::size_t at) {
    for (const std::string_view name : never)
      if (schema.contains(name)) return refuse(name, at, "is not supported");
    if (const Schema* unique = member(schema, "uniqueItems"); unique != nullptr && *unique != false)
      return refuse("uniqueItems", at, "is not supported");
    if (at != 0 && schema.contains("$id")) return refuse("$id", at, "is supported only at the top level");
    if (schema.contains("multipleOf") && types_of(schema) != std::set<std::string>{"integer"})
      return refuse("multipleOf", at, "is supported only for the type integer");
    for (const std::string_view name : counts) {
      const Schema* count = member(schema, name);
      if (count != nullptr && count->is_number() && count->get<double>() > max_count)
        return refuse(name, at, fmt::format("must be at most {}, got {}", max_count, count->dump()));
    }
    if (const Schema* all = member(schema, "allOf"); all != nullptr && all->is_array() && all->size() > 1)
      return refuse("allOf", at, "with several schemas is not supported");
    if (const Schema* type = member(schema, "type"); type != nullptr && type->is_array() && type->empty())
      return refuse("type", at, "lists no type");
    for (const char* name : {"const", "enum"}) {
      const Schema* values = member(schema, name);
      if (values != nullptr && has_large_integer(*values))
        return refuse(name, at, "has an integer beyond 64 bits");
    }
    SPECTR_TRY_VOID(check_combination(schema, at));
    SPECTR_TRY_VOID(check_object(schema, at));
    return check_exclusive(schema, at);
  }

  /// Refuses keywords of objects that are kept only if other properties are excluded, or that change the
  /// meaning of the listed ones.
  Result<void> check_object(const Schema& schema, std::size_t at) const {
    if (const Schema* properties = member(schema, "properties");
        properties != nullptr && properties->is_object()) {
      for (const auto& [name, one] : properties->items()) {
        if (name.size() > max_name) {
          return refuse(
              "properties", at,
              fmt::format("has a name of {} bytes, at most {} are supported", name.size(), max_name));
        }
      }
    }
    const Schema *others = member(schema, "additionalProperties"), *names = member(schema, "propertyNames");
    const bool is_closed = others != nullptr && *others == false;
    const Schema* patterns = member(schema, "patternProperties");
    if (patterns != nullptr &&
        (!is_closed || patterns->size() > 1 || schema.contains("properties") || names != nullptr))
      return refuse(
          "patternProperties", at,
          "is supported with one pattern, next to 'additionalProperties': false, and without 'properties'");
    if (names != nullptr && (is_closed || schema.contains("properties")))
      return refuse("propertyNames", at, "is supported only if all properties are additional");
    if (names != nullptr && !describes_names(*names))
      return refuse("propertyNames", at, "must be a schema of the type string");
    // An additional name may be repeated, but counts once.
    const Schema* least = member(schema, "minProperties");
    if (least != nullptr && (!is_closed || patterns != nullptr) && *least != 0 && *least != 1) {
      return refuse(
          "minProperties", at,
          "is supported up to the required properties, next to 'additionalProperties': false, or as 1");
    }
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
  Result<void> check_combination(const Schema& schema, std::size_t at) const {
    const auto decides =
        std::ranges::find_if(whole_keywords, [&](std::string_view name) { return schema.contains(name); });
    if (decides == std::end(whole_keywords)) return check_type(schema, at);
    for (const std::string_view name : whole_keywords) {
      if (name != *decides && schema.contains(name))
        return refuse(name, at, fmt::format("next to '{}' is not supported", *decides));
    }
    for (const auto& names : assertions) {
      for (const std::string_view name : names) {
        if (schema.contains(name))
          return refuse(name, at, fmt::format("next to '{}' is not supported", *decides));
      }
    }
    const Schema* branches = member(schema, *decides);
    if (!schema.contains("type") || *decides == "const" || *decides == "enum") return {};
    // A type next to branches that all have a type within it adds nothing.
    std::set<std::string> types = types_of(schema);
    const auto has_type = [&types](const Schema& branch) {
      const std::set<std::string> own = types_of(branch);
      return !own.empty() && std::ranges::includes(types, own);
    };
    if (branches->is_array() && std::all_of(branches->begin(), branches->end(), has_type)) return {};
    return refuse("type", at, fmt::format("next to '{}' is not supported", *decides));
  }

  /// Refuses keywords that constrain values of some types if the schema names no type.
  Result<void> check_type(const Schema& schema, std::size_t at) const {
    if (schema.contains("type") || schemas_[at].keyword == "propertyNames") return {};
    for (const auto& names : assertions) {
      for (const std::string_view name : names)
        if (schema.contains(name)) return refuse(name, at, "needs a 'type' next to it");
    }
    return {};
  }

  /// oneOf is compiled as anyOf, which is the same where no value fits two schemas.
  Result<void> check_exclusive(const Schema& schema, std::size_t at) {
    const Schema* branches = member(schema, "oneOf");
    if (branches == nullptr || !branches->is_array()) return {};
    for (std::size_t i = 0; i < branches->size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (exclude_each_other((*branches)[i], (*branches)[j], comparisons_)) continue;
        if (comparisons_ == 0) {
          return refuse("oneOf", at,
                        fmt::format("makes more than {} comparisons: use 'anyOf'", max_comparisons));
        }
        return refuse("oneOf", at, "has schemas that may fit the same value: use 'anyOf'");
      }
    }
    return {};
  }

  static constexpr std::size_t max_shown = 200;  // characters of a place
  std::string_view field_;
  PlacedSchemas schemas_;
  std::size_t comparisons_ = max_comparisons;  // that are left
};

/// Refuses what would take quadratic time to parse or recurse too deep. The text may be malformed.
Result<void> check_extent(std::string_view text, std::string_view field) {
  std::vector<std::size_t> members;  // of each object or list that is open
  std::size_t commas = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char next = text[i];
    if (next == '"') in_string = !in_string;
    if (in_string) {
      if (next == '\\') ++i;
    } else if (next == '{' || next == '[') {
      if (members.size() >= max_levels)
        return error("'{}' is nested deeper than {} values", field, max_levels);
      members.push_back(0);
    } else if (next == '}' || next == ']') {
      if (!members.empty()) members.pop_back();
    } else if (next == ':') {
      if (!members.empty() && ++members.back() > max_members)
        return error("'{}' has an object of more than {} members", field, max_members);
    } else if (next == ',') {
      if (++commas >= max_values) return error("'{}' has more than {} values", field, max_values);
    }
  }
  return {};
}

Result<std::string> exact(const std::string& schema, std::string_view field, SchemaStyle style) {
  SPECTR_TRY_VOID(check_json(schema, field));
  auto parsed = nlohmann::ordered_json::parse(schema);
  if (!parsed.is_object() && !parsed.is_boolean())
    return error("'{}' must be a JSON schema, an object or true", field);
  SPECTR_TRY_VOID(rewrite_schema(parsed, field, style));
  SPECTR_TRY_VOID(Checker(field).check(Schema(parsed)));
  rewrite_exclusive(parsed);
  return parsed.dump();
}

}  // namespace

Result<void> check_json(std::string_view text, std::string_view field) {
  SPECTR_TRY_VOID(check_extent(text, field));
  if (!nlohmann::ordered_json::accept(text)) return error("'{}' is not JSON", field);
  return {};
}

Result<std::string> exact_json_schema(const std::string& schema, std::string_view field, SchemaStyle style) {
  try {
    return exact(schema, field, style);
  } catch (const std::exception& failure) {
    return error("'{}' cannot be read: {}", field, escape(failure.what(), 200));
  }
}

}  // namespace spectr
