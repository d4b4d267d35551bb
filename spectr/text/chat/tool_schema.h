#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace spectr {

// JSON schemas of the arguments of tools.

using ToolSchema = nlohmann::ordered_json;

/// Returns the definition that a schema refers to; null: it has no reference, or one to something else.
/// `root`: the schema that has the definitions.
const ToolSchema* referred_schema(const ToolSchema& schema, const ToolSchema& root);

/// Whether a schema accepts a string. None: it does not say.
std::optional<bool> schema_accepts_text(const ToolSchema& schema, const ToolSchema& root, int depth = 0);

}  // namespace spectr
