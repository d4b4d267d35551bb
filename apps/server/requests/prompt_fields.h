#pragma once

#include "apps/server/requests/fields.h"
#include "apps/server/requests/generation_request.h"

namespace spectr::server {

/// Reads the fields that only some of the APIs of OpenAI and llama.cpp know, by `request.api`: what surrounds
/// a text (`suffix`, `echo`, those of /infill), the limits that its lines set, and which parts of an answer
/// are wanted. The other APIs accept values that ask for nothing. Throws ApiError.
void read_prompt_fields(Fields& fields, GenerationRequest& request);

}  // namespace spectr::server
