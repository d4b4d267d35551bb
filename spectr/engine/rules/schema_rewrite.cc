#include "spectr/engine/rules/schema_rewrite.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "spectr/base/names.h"
#include "spectr/engine/rules/schema_parts.h"
#include "spectr/engine/rules/schema_pattern.h"

namespace spectr {
namespace {

using Ordered = nlohmann::ordered_json;

bool has_one_of(const Ordered& schema, std::span<const std::string_view> names) {
  return std::ranges::any_of(names, [&](std::string_view name) { return schema.contains(name); });
}

void rename(Ordered& schema, const char* from, const char* to) {
  Ordered value = std::move(schema[from]);
  schema.erase(from);
  if (!schema.contains(to)) schema[to] = std::move(value);
}

/// The size of a value in memory, roughly, in bytes.
std::size_t size_of(const Ordered& value) {
  constexpr std::size_t own = 32;
  if (value.is_string()) return own + value.get_ref<const std::string&>().size();
  std::size_t size = own;
  if (value.is_object()) {
    for (const auto& [name, one] : value.items()) size += name.size() + size_of(one);
  } else {
    for (const Ordered& one : value) size += value.is_array() ? size_of(one) : 0;
  }
  return size;
}

class Rewriter {
 public:
  Rewriter(std::string_view field, SchemaStyle style, std::size_t size)
      : field_(field), style_(style), left_(std::min(max_growth, min_growth + growth * size)) {}

  Result<void> rewrite(Ordered& schema) {
    if (!schema.is_object()) return {};
    for (const std::string_view name : schemas_by_name) {
      if (const Ordered* all = member(schema, name); all != nullptr && !all->is_object())
        return error("'{}': '{}' must be an object", field_, name);
    }
    SPECTR_TRY_VOID(drop_repeated_types(schema));
    if (const Ordered* format = member(schema, "format");
        format != nullptr && !(format->is_string() && is_known_format(format->get_ref<const std::string&>())))
      schema.erase("format");  // an annotation
    // No other schema evaluates properties or items: combinations are refused.
    if (schema.contains("unevaluatedProperties"))
      rename(schema, "unevaluatedProperties", "additionalProperties");
    if (schema.contains("unevaluatedItems")) rename(schema, "unevaluatedItems", "items");
    if (!has_one_of(schema, whole_keywords)) {
      name_type(schema);
      SPECTR_TRY_VOID(require_listed(schema));
      shorten_prefix(schema);
      SPECTR_TRY_VOID(match_whole(schema));
    }
    SPECTR_TRY_VOID(keep_values_of_type(schema));
    return for_each_part(
        schema, [this](Ordered& part, std::string_view, const std::string&) { return rewrite(part); });
  }

 private:
  /// Takes bytes from what the schema may grow by.
  Result<void> grow(std::size_t bytes) {
    if (bytes > left_)
      return error("'{}' is too large with its required properties and patterns written out", field_);
    left_ -= bytes;
    return {};
  }

  Result<void> drop_repeated_types(Ordered& schema) const {
    Ordered* types = member(schema, "type");
    if (types == nullptr || !types->is_array()) return {};
    if (types->size() > max_types) return error("'{}': 'type' lists more than {} types", field_, max_types);
    Ordered kept = Ordered::array();
    for (const Ordered& type : *types)
      if (std::find(kept.begin(), kept.end(), type) == kept.end()) kept.push_back(type);
    *types = std::move(kept);
    return {};
  }

  static void name_type(Ordered& schema) {
    if (schema.contains("type")) return;
    const bool is_object = has_one_of(schema, object_keywords), is_array = has_one_of(schema, array_keywords);
    if (is_object != is_array) schema["type"] = is_object ? "object" : "array";
  }

  /// Lists required properties, and drops empty lists and limits without effect.
  Result<void> require_listed(Ordered& schema) {
    for (const char* name : {"properties", "patternProperties"}) {
      const Ordered* all = member(schema, name);
      if (all != nullptr && all->is_object() && all->empty()) schema.erase(name);
    }
    if (const Ordered* names = member(schema, "propertyNames"); names != nullptr && *names == true)
      schema.erase("propertyNames");
    const Ordered* required = member(schema, "required");
    if (required == nullptr || !required->is_array()) return {};
    std::set<std::string> names, known;
    if (const Ordered* properties = member(schema, "properties"))
      for (const auto& [name, one] : properties->items()) known.insert(name);
    std::vector<std::string> missing;
    for (const Ordered& name : *required) {
      if (!name.is_string()) return error("'{}': 'required' must list names", field_);
      const auto& text = name.get_ref<const std::string&>();
      names.insert(text);
      if (known.insert(text).second) missing.push_back(text);
    }
    if (const Ordered* least = member(schema, "minProperties");
        least != nullptr && least->is_number_unsigned() && least->get<std::size_t>() <= names.size())
      schema.erase("minProperties");
    return missing.empty() ? Result<void>() : list_properties(schema, missing);
  }

  /// Lists additional properties.
  Result<void> list_properties(Ordered& schema, const std::vector<std::string>& names) {
    const Ordered* others = member(schema, "additionalProperties");
    const Ordered other = others != nullptr ? *others : Ordered(true);
    if (other == false || schema.contains("patternProperties") || schema.contains("propertyNames")) {
      return error("'{}': 'required' names '{}', which is not among the 'properties'", field_,
                   escape(names.front(), 100));
    }
    // The copies are rewritten in turn, so that nested ones are taken from the budget again.
    SPECTR_TRY_VOID(grow(names.size() * size_of(other)));
    Ordered& properties = schema["properties"];
    if (properties.is_null()) properties = Ordered::object();
    // Not by operator[], which looks through all names.
    for (const std::string& name : names) properties.get_ref<Ordered::object_t&>().emplace_back(name, other);
    return {};
  }

  /// Drops elements of `prefixItems` beyond `maxItems`.
  static void shorten_prefix(Ordered& schema) {
    Ordered* prefix = member(schema, "prefixItems");
    if (prefix == nullptr || !prefix->is_array()) return;
    for (Ordered& one : *prefix)
      if (one == true) one = Ordered::object();
    const Ordered* most = member(schema, "maxItems");
    if (most != nullptr && most->is_number_unsigned() && most->get<std::size_t>() < prefix->size()) {
      prefix->erase(prefix->begin() + most->get<std::ptrdiff_t>(), prefix->end());
      schema["items"] = false;
    }
    if (schema["prefixItems"].empty()) schema.erase("prefixItems");
  }

  /// Patterns and formats become patterns that match a text as a whole.
  Result<void> match_whole(Ordered& schema) {
    Ordered* format = member(schema, "format");
    Ordered* pattern = member(schema, "pattern");
    if (format != nullptr) {
      for (const char* other : {"pattern", "minLength", "maxLength"}) {
        if (schema.contains(other))
          return error("'{}': '{}' next to 'format' is not supported", field_, other);
      }
    }
    if (style_ == SchemaStyle::tags) return {};
    if (format != nullptr) {
      if (const auto made = format_pattern(format->get_ref<const std::string&>())) {
        schema.erase("format");
        schema["pattern"] = *made;
        pattern = &schema["pattern"];
      }
    }
    if (pattern != nullptr && pattern->is_string()) {
      for (const char* other : {"minLength", "maxLength"}) {
        if (schema.contains(other))
          return error("'{}': '{}' next to 'pattern' is not supported", field_, other);
      }
      SPECTR_TRY(*pattern, whole(pattern->get_ref<const std::string&>()));
    }
    Ordered* by_pattern = member(schema, "patternProperties");
    if (by_pattern == nullptr || by_pattern->size() > 1) return {};  // several are refused later
    Ordered made = Ordered::object();
    for (auto it = by_pattern->begin(); it != by_pattern->end(); ++it) {
      SPECTR_TRY(const std::string key, whole(it.key()));
      made[key] = std::move(it.value());
    }
    *by_pattern = std::move(made);
    return {};
  }

  Result<std::string> whole(const std::string& pattern) {
    const auto made = whole_pattern(pattern);
    if (!made) {
      return error("'{}': the pattern '{}' {}, which is not supported", field_, escape(pattern, 100),
                   made.error());
    }
    SPECTR_TRY_VOID(grow(made->size()));
    return *made;
  }

  Result<void> keep_values_of_type(Ordered& schema) const {
    const Ordered* type = member(schema, "type");
    if (type == nullptr) return {};
    const auto refuse = [&](const char* keyword) {
      return error("'{}': '{}' has no value of the type {}", field_, keyword,
                   type->dump(-1, ' ', true).substr(0, 100));
    };
    if (const Ordered* value = member(schema, "const"); value != nullptr && !is_of_type(*value, *type))
      return refuse("const");
    Ordered* values = member(schema, "enum");
    if (values == nullptr || !values->is_array()) return {};
    Ordered kept = Ordered::array();
    for (Ordered& value : *values)
      if (is_of_type(value, *type)) kept.push_back(std::move(value));
    if (kept.empty()) return refuse("enum");
    *values = std::move(kept);
    return {};
  }

  static constexpr std::size_t max_types = 7;  // there are no more
  // Bytes that the schema may grow by, in all and for each byte of its own.
  static constexpr std::size_t max_growth = std::size_t{2} << 20, min_growth = 4096, growth = 32;
  std::string_view field_;
  SchemaStyle style_;
  std::size_t left_;  // of the growth
};

}  // namespace

Result<void> rewrite_schema(Ordered& schema, std::string_view field, SchemaStyle style) {
  return Rewriter(field, style, size_of(schema)).rewrite(schema);
}

void rewrite_exclusive(Ordered& schema) {
  if (!schema.is_object()) return;
  if (schema.contains("oneOf")) rename(schema, "oneOf", "anyOf");
  (void)for_each_part(schema, [](Ordered& part, std::string_view, const std::string&) -> Result<void> {
    rewrite_exclusive(part);
    return {};
  });
}

}  // namespace spectr
