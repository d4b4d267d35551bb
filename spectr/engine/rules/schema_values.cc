#include "spectr/engine/rules/schema_values.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace spectr {
namespace {

using Needs = std::vector<std::vector<const Schema*>>;

std::size_t count_of(const Schema& schema, std::string_view keyword) {
  const Schema* count = member(schema, keyword);
  return count != nullptr && count->is_number() && count->get<double>() > 0 ? count->get<std::size_t>() : 0;
}

bool may_be(const Schema& schema, const char* type) {
  const std::set<std::string> types = types_of(schema);
  return types.empty() || types.contains(type);
}

std::vector<const Schema*> needs_of_object(const Schema& schema) {
  std::vector<const Schema*> all;
  const Schema *properties = member(schema, "properties"), *required = member(schema, "required");
  if (properties == nullptr || required == nullptr || !required->is_array()) return all;
  for (const Schema& name : *required) {
    if (!name.is_string()) continue;
    if (const Schema* one = member(*properties, name.get_ref<const std::string&>())) all.push_back(one);
  }
  return all;
}

std::vector<const Schema*> needs_of_array(const Schema& schema) {
  std::vector<const Schema*> all;
  const std::size_t least = count_of(schema, "minItems");
  const Schema *prefix = member(schema, "prefixItems"), *items = member(schema, "items");
  const std::size_t given = prefix != nullptr && prefix->is_array() ? prefix->size() : 0;
  for (std::size_t i = 0; i < std::min(given, least); ++i) all.push_back(&(*prefix)[i]);
  if (least > given && items != nullptr) all.push_back(items);
  return all;
}

/// Returns sets of schemas: the schema has a finite value if all schemas of one set have. An empty set:
/// always.
Needs needs_of(const References& references, const Schema& schema) {
  if (!schema.is_object()) return {{}};
  if (const auto found = references.find(&schema); found != references.end()) return {{found->second}};
  if (schema.contains("const") || schema.contains("enum")) return {{}};
  for (const char* keyword : {"anyOf", "oneOf", "allOf"}) {
    const Schema* branches = member(schema, keyword);
    if (branches == nullptr || !branches->is_array()) continue;
    Needs needs;
    for (const Schema& branch : *branches) needs.push_back({&branch});
    return needs;
  }
  const std::set<std::string> types = types_of(schema);
  if (types.empty() ||
      std::ranges::any_of(types, [](const std::string& one) { return one != "object" && one != "array"; }))
    return {{}};
  Needs needs;
  if (may_be(schema, "object")) needs.push_back(needs_of_object(schema));
  if (may_be(schema, "array")) needs.push_back(needs_of_array(schema));
  return needs;
}

}  // namespace

std::optional<std::size_t> endless_schema(const PlacedSchemas& schemas, const References& references) {
  // A set of schemas that all need finite values before `decides` has one.
  struct Set {
    const Schema* decides;
    std::size_t left;
  };
  std::vector<Set> sets;
  std::unordered_map<const Schema*, std::vector<std::size_t>> waiting;
  std::vector<const Schema*> found;
  for (const PlacedSchema& placed : schemas) {
    for (const std::vector<const Schema*>& needs : needs_of(references, *placed.schema)) {
      if (needs.empty()) found.push_back(placed.schema);
      for (const Schema* one : needs) waiting[one].push_back(sets.size());
      sets.push_back({placed.schema, needs.size()});
    }
  }
  std::unordered_map<const Schema*, bool> is_finite;
  while (!found.empty()) {
    const Schema* schema = found.back();
    found.pop_back();
    if (std::exchange(is_finite[schema], true)) continue;
    for (const std::size_t set : waiting[schema])
      if (--sets[set].left == 0) found.push_back(sets[set].decides);
  }
  for (std::size_t i = 0; i < schemas.size(); ++i)
    if (!is_finite[schemas[i].schema]) return i;
  return std::nullopt;
}

}  // namespace spectr
