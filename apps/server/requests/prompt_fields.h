#pragma once

#include "apps/server/requests/fields.h"
#include "apps/server/requests/generation_request.h"

namespace spectr::server {

/// Reads fields that only some of OpenAI's and llama.cpp's APIs have, by `request.api`: the surrounding text
/// (`suffix`, `echo`, those of /infill), limits on lines, and the selection of members of the answer. The
/// other APIs accept only neutral values. Throws ApiError.
void read_prompt_fields(Fields& fields, GenerationRequest& request);

}  // namespace spectr::server
