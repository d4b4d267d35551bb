#pragma once

#include "apps/server/models/served_models.h"
#include "apps/support/json.h"

namespace spectr::server {

// Information about the server.

Json models_json(ServedModels& models);  ///< /v1/models
/// Answers /v1/models/NAME. Throws ApiError if there is no model of that name.
Json model_json(ServedModels& models, const std::string& name);
Json router_json(const ServedModels& models);  ///< /props of several models, none of which is named
Json props_json(const Service& service);       ///< /props
Json slots_json(const Service& service);       ///< /slots

/// Answers {"messages", …} with {"input_tokens"}, the length of the prompt of /v1/chat/completions.
Json count_input_tokens(const Service& service, const std::string& body);
/// Returns the number of prompt tokens of a body of /v1/messages.
Json count_message_tokens(const Service& service, const std::string& body);

/// Convert {"content"} to {"tokens"}, {"tokens"} to {"content"}, {"messages"} to {"prompt"}. Throw ApiError.
Json tokenize(const Service& service, const std::string& body);
Json detokenize(const Service& service, const std::string& body);
Json apply_template(const Service& service, const std::string& body);

}  // namespace spectr::server
