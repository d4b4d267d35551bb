#pragma once

#include <optional>

#include "apps/server/requests/fields.h"
#include "apps/server/requests/tool_request.h"
#include "spectr/engine/request.h"
#include "spectr/engine/rules/grammar.h"
#include "spectr/text/chat/chat_template.h"

namespace spectr::server {

/// Reads `response_format`, `json_schema`, `grammar` or `regex`. Throws ApiError, also if
/// there are several.
std::optional<Constraint> read_constraint(Fields& fields);

/// Reads a format as specified by OpenAI: `text`, `json_object` or `json_schema`. The schema is in `inner`,
/// or next to the type if `inner` is empty. Errors call the field `name`.
std::optional<Constraint> read_format(const JsonInput& format, std::string_view name, std::string_view inner);

/// Reads a format as specified by Ollama: "json" or a schema. An empty string means no constraint.
std::optional<Constraint> read_plain_format(const JsonInput& format, std::string_view name);

/// Returns the constraint on an answer that may call tools, or none if it is unconstrained. It enforces a
/// call if the request requires one, and the schemas of strict tools. With `content`, a JSON schema, the
/// answer is calls or JSON of that schema. `split` determines how reasoning is split off. Throws ApiError.
std::optional<Constraint> constraint_with_calls(const ToolRequest& tools, const ChatTemplate& chat_template,
                                                const ReasoningSplit& split,
                                                const std::optional<Constraint>& content);

}  // namespace spectr::server
