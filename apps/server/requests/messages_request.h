#pragma once

#include "apps/server/requests/generation_request.h"

namespace spectr::server {

/// Reads the body of /v1/messages, Anthropic's API. Throws ApiError naming the field.
GenerationRequest read_messages_request(const JsonInput& body, const RequestDefaults& defaults);

}  // namespace spectr::server
