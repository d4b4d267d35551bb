#pragma once

#include <string>
#include <string_view>

#include "spectr/base/result.h"

namespace spectr {

/// Fails if a text is not JSON, or is JSON that would take quadratic time to parse or recurse too deep.
/// `field` names it in errors. Linear time.
Result<void> check_json(std::string_view text, std::string_view field);

/// How the grammar of a schema is written.
enum class SchemaStyle {
  json,  ///< JSON
  tags,  ///< strings without quotes between tags: patterns match a text as a whole, as they are
};

/// Returns a schema whose grammar allows what `schema` allows, up to the order of keys, white space, the
/// spelling of numbers and the escapes listed in docs/structured-output.md. Keywords that the compiler would
/// ignore are expressed by others. Fails, naming keyword and place, for keywords that would be ignored or
/// weakened, for schemas that no finite value fits, and for schemas that are too deep or too large. `field`
/// names the schema. Cost: linear in the size of the schema, but for `oneOf`, whose schemas are compared in
/// pairs.
Result<std::string> exact_json_schema(const std::string& schema, std::string_view field,
                                      SchemaStyle style = SchemaStyle::json);

}  // namespace spectr
