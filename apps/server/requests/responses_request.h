#pragma once

#include "apps/server/requests/generation_request.h"

namespace spectr::server {

/// Reads the body of /v1/responses, OpenAI's API of items. Throws ApiError naming the field.
GenerationRequest read_responses_request(const JsonInput& body, const RequestDefaults& defaults);

}  // namespace spectr::server
