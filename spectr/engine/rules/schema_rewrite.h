#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "spectr/base/result.h"
#include "spectr/engine/rules/json_schema.h"

namespace spectr {

/// Expresses keywords that the compiler of grammars ignores by those that it keeps, in a schema and all of
/// its parts: `unevaluatedProperties`, required properties that are not listed, values that are not of the
/// `type`, patterns that match a part of a text, formats of dates, and the like. What fits the schema stays
/// the same, except that a schema without `type` that has keywords of objects is one of objects, or of arrays
/// accordingly. Requires: at most some hundred levels.
Result<void> rewrite_schema(nlohmann::ordered_json& schema, std::string_view field, SchemaStyle style);

/// Makes every `oneOf` an `anyOf`. Requires: no value fits two schemas of a `oneOf`.
void rewrite_exclusive(nlohmann::ordered_json& schema);

}  // namespace spectr
