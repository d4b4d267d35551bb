#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "spectr/engine/rules/schema_parts.h"

namespace spectr {

/// A schema, and where its parent has it.
struct PlacedSchema {
  const Schema* schema;
  std::size_t parent = 0;         ///< its index among all schemas
  std::string_view keyword = {};  ///< empty: it is the root
  std::string key = {};           ///< name or number, if the keyword has several
};

/// All schemas of a document, the root first.
using PlacedSchemas = std::vector<PlacedSchema>;

/// The schemas that "$ref" refers to, by those that have it.
using References = std::unordered_map<const Schema*, const Schema*>;

/// Returns the index of a schema that no finite value fits, because it needs itself; nullopt: there is none.
/// Requires: `schemas` are all of a document's, and `references` refer to some of them. Linear time.
std::optional<std::size_t> endless_schema(const PlacedSchemas& schemas, const References& references);

}  // namespace spectr
