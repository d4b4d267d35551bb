#pragma once

#include <optional>

#include "apps/server/requests/fields.h"
#include "apps/server/requests/tool_request.h"
#include "spectr/engine/request.h"
#include "spectr/engine/rules/grammar.h"
#include "spectr/text/chat/chat_template.h"

namespace spectr::server {

/// Reads `response_format`, `json_schema`, `grammar` and `regex`, of which a request may have one. Throws
/// ApiError.
std::optional<Constraint> read_constraint(Fields& fields);

/// Reads a format as OpenAI describes it: `text`, `json_object` or `json_schema`, whose schema stands in
/// `inner`, or beside the type where that is empty. `name` is what errors call it.
std::optional<Constraint> read_format(const JsonInput& format, std::string_view name, std::string_view inner);

/// Reads a format as Ollama describes it: "json", or a schema itself; an empty text asks for nothing.
std::optional<Constraint> read_plain_format(const JsonInput& format, std::string_view name);

/// Returns the constraint on an answer that may call tools: it must call one if the request requires that,
/// and arguments of strict tools fit their schemas. With `content`, a JSON schema, the answer is calls or
/// JSON of that schema. None: the answer is free. `split`: how its reasoning is split. Throws ApiError.
std::optional<Constraint> constraint_with_calls(const ToolRequest& tools, const ChatTemplate& chat_template,
                                                const ReasoningSplit& split,
                                                const std::optional<Constraint>& content);

}  // namespace spectr::server
