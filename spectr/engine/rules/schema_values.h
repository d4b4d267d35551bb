#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spectr/engine/rules/schema_parts.h"

namespace spectr {

/// Schemas with the places that errors name, the root first.
using PlacedSchemas = std::vector<std::pair<const Schema*, std::string>>;

/// Returns the place of a schema that no finite value fits, because it needs itself; nullopt: there is none.
/// Requires: `schemas` are all of a document's, and every "$ref" refers to one of them.
std::optional<std::string> endless_schema(const PlacedSchemas& schemas);

}  // namespace spectr
