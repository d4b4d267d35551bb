#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace spectr {

// JSON schemas of tool arguments.

using ToolSchema = nlohmann::ordered_json;

/// Returns the definition that a schema refers to, or null if it has no reference or one to another place.
/// `root`: the schema that has the definitions.
const ToolSchema* referred_schema(const ToolSchema& schema, const ToolSchema& root);

/// True if a schema accepts a string; nothing if it does not say.
std::optional<bool> schema_accepts_text(const ToolSchema& schema, const ToolSchema& root, int depth = 0);

}  // namespace spectr
