#pragma once

#include "apps/server/service.h"
#include "apps/support/json.h"

namespace spectr::server {

// What the server tells of itself.

Json models_json(const Service& service);  ///< /v1/models
/// /v1/models/NAME. Throws ApiError where the model is called otherwise.
Json model_json(const Service& service, const std::string& name);
Json props_json(const Service& service);  ///< /props
Json slots_json(const Service& service);  ///< /slots

/// {"messages", …} → {"input_tokens"}, the length of the prompt that /v1/chat/completions makes of them.
Json count_input_tokens(const Service& service, const std::string& body);
/// Counts the tokens of a body of /v1/messages.
Json count_message_tokens(const Service& service, const std::string& body);

/// {"content"} → {"tokens"}, {"tokens"} → {"content"}, {"messages"} → {"prompt"}. Throw ApiError.
Json tokenize(const Service& service, const std::string& body);
Json detokenize(const Service& service, const std::string& body);
Json apply_template(const Service& service, const std::string& body);

}  // namespace spectr::server
