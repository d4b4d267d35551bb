#include "spectr/engine/rules/schema_parts.h"

#include <algorithm>

namespace spectr {
namespace {

/// The values that a schema lists; null: it lists none.
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

/// Undoes "%2F" of addresses, and "~1" and "~0" of JSON pointers.
std::string decoded(std::string_view part) {
  std::string bytes, text;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const auto digit = [](char c) { return std::string_view("0123456789abcdef").find(c | 0x20); };
    if (part[i] == '%' && i + 2 < part.size() && digit(part[i + 1]) < 16 && digit(part[i + 2]) < 16) {
      bytes += static_cast<char>(16 * digit(part[i + 1]) + digit(part[i + 2]));
      i += 2;
    } else {
      bytes += part[i];
    }
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const bool is_escape =
        bytes[i] == '~' && i + 1 < bytes.size() && (bytes[i + 1] == '0' || bytes[i + 1] == '1');
    text += is_escape ? (bytes[++i] == '0' ? '~' : '/') : bytes[i];
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

const Schema* referred_part(const Schema& root, const std::string& reference) {
  if (reference == "#") return &root;
  if (!reference.starts_with("#/")) return nullptr;
  const Schema* part = &root;
  std::string_view rest = std::string_view(reference).substr(1);
  while (part != nullptr && !rest.empty()) {
    const std::size_t end = std::min(rest.find('/', 1), rest.size());
    const std::string key = decoded(rest.substr(1, end - 1));
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
