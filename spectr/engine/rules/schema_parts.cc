#include "spectr/engine/rules/schema_parts.h"

#include <algorithm>
#include <optional>
#include <span>

namespace spectr {
namespace {

using Values = std::span<const Schema>;

/// Returns the values that a schema lists, or nullopt if it lists none.
std::optional<Values> listed(const Schema& schema) {
  if (const Schema* value = member(schema, "const")) return Values(value, 1);
  const Schema* values = member(schema, "enum");
  if (values == nullptr || !values->is_array()) return std::nullopt;
  return Values(values->get_ref<const Schema::array_t&>());
}

bool take(std::size_t& budget, std::size_t comparisons) {
  const bool is_enough = comparisons <= budget;
  budget = is_enough ? budget - comparisons : 0;
  return is_enough;
}

bool are_disjoint(Values a, Values b, std::size_t& budget) {
  return take(budget, a.size() * b.size()) &&
         std::ranges::none_of(a, [b](const Schema& one) { return std::ranges::find(b, one) != b.end(); });
}

bool are_disjoint(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::ranges::none_of(a, [&b](const std::string& one) { return b.contains(one); });
}

std::size_t size_of(const Schema& schema, std::string_view keyword) {
  const Schema* values = member(schema, keyword);
  return values != nullptr ? values->size() : 0;
}

std::set<std::string> required_by(const Schema& schema) {
  std::set<std::string> names;
  const Schema* required = member(schema, "required");
  if (required == nullptr || !required->is_array()) return names;
  for (const Schema& name : *required)
    if (name.is_string()) names.insert(name.get_ref<const std::string&>());
  return names;
}

/// Undoes "%2F" of addresses.
std::string percent_decoded(std::string_view text) {
  const auto digit = [text](std::size_t i) {
    return i < text.size() ? std::string_view("0123456789abcdefABCDEF").find(text[i])
                           : std::string_view::npos;
  };
  const auto value = [](std::size_t digit) { return digit < 16 ? digit : digit - 6; };
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && digit(i + 1) != std::string_view::npos && digit(i + 2) != std::string_view::npos) {
      bytes += static_cast<char>(16 * value(digit(i + 1)) + value(digit(i + 2)));
      i += 2;
    } else {
      bytes += text[i];
    }
  }
  return bytes;
}

/// Undoes "~1" and "~0" of JSON pointers.
std::string unescaped(std::string_view part) {
  std::string text;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const bool is_escape =
        part[i] == '~' && i + 1 < part.size() && (part[i + 1] == '0' || part[i + 1] == '1');
    text += is_escape ? (part[++i] == '0' ? '~' : '/') : part[i];
  }
  return text;
}

}  // namespace

std::set<std::string> types_of(const Schema& schema) {
  std::set<std::string> types;
  const Schema* type = member(schema, "type");
  if (type == nullptr) return types;
  for (const Schema& one : type->is_array() ? *type : Schema::array({*type}))
    if (one.is_string()) types.insert(one.get<std::string>());
  if (types.contains("number")) types.insert("integer");
  return types;
}

bool exclude_each_other(const Schema& a, const Schema& b, std::size_t& budget) {
  constexpr std::size_t comparisons = 10;  // of keywords and types
  if (!take(budget, comparisons)) return false;
  const auto values_a = listed(a), values_b = listed(b);
  if (values_a && values_b) return are_disjoint(*values_a, *values_b, budget);
  const std::set<std::string> types_a = types_of(a), types_b = types_of(b);
  if (!types_a.empty() && !types_b.empty() && are_disjoint(types_a, types_b)) return true;
  const Schema *properties_a = member(a, "properties"), *properties_b = member(b, "properties");
  if (properties_a == nullptr || properties_b == nullptr || !properties_a->is_object()) return false;
  if (types_a != std::set<std::string>{"object"} || types_b != types_a) return false;
  if (!take(budget, properties_a->size() + size_of(a, "required") + size_of(b, "required"))) return false;
  const std::set<std::string> required_a = required_by(a), required_b = required_by(b);
  for (const auto& [name, property] : properties_a->items()) {
    const Schema* other = member(*properties_b, name);
    if (other == nullptr || !required_a.contains(name) || !required_b.contains(name)) continue;
    const auto one_of = listed(property), other_of = listed(*other);
    if (one_of && other_of && are_disjoint(*one_of, *other_of, budget)) return true;
  }
  return false;
}

const Schema* referred_part(const Schema& root, const std::string& reference) {
  if (reference == "#") return &root;
  if (!reference.starts_with("#/")) return nullptr;
  const Schema* part = &root;
  // Percent signs belong to the address, so they are decoded before it is split.
  const std::string pointer = percent_decoded(reference);
  std::string_view rest = std::string_view(pointer).substr(1);
  while (part != nullptr && !rest.empty()) {
    const std::size_t end = std::min(rest.find('/', 1), rest.size());
    const std::string key = unescaped(rest.substr(1, end - 1));
    rest.remove_prefix(end);
    if (part->is_array()) {
      const bool is_number = !key.empty() && key.size() < 7 &&
                             std::ranges::all_of(key, [](char c) { return c >= '0' && c <= '9'; });
      part = is_number && std::stoul(key) < part->size() ? &(*part)[std::stoul(key)] : nullptr;
    } else {
      part = member(*part, key);
    }
  }
  return part;
}

}  // namespace spectr
