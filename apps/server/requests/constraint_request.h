#pragma once

#include <optional>

#include "apps/server/requests/fields.h"
#include "spectr/engine/rules/grammar.h"

namespace spectr::server {

/// Reads `response_format`, `json_schema`, `grammar` or `regex`. Throws ApiError, also if
/// there are several.
std::optional<Constraint> read_constraint(Fields& fields);

/// Reads a format as specified by OpenAI: `text`, `json_object` or `json_schema`. The schema is in `inner`,
/// or next to the type if `inner` is empty. Errors call the field `name`.
std::optional<Constraint> read_format(const JsonInput& format, std::string_view name, std::string_view inner);

/// Reads a format as specified by Ollama: "json" or a schema. An empty string means no constraint.
std::optional<Constraint> read_plain_format(const JsonInput& format, std::string_view name);

}  // namespace spectr::server
