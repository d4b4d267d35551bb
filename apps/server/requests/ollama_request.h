#pragma once

#include "apps/server/requests/generation_request.h"

namespace spectr::server {

/// Reads the body of /api/chat or /api/generate, Ollama's API. Throws ApiError naming the field.
GenerationRequest read_ollama_request(const JsonInput& body, Api api, const RequestDefaults& defaults);

}  // namespace spectr::server
