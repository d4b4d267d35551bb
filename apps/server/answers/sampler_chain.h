#pragma once

#include "apps/support/json.h"
#include "spectr/sampling/warp.h"

namespace spectr::server {

/// Applies llama.cpp's `samplers` to the options: a list of names or a text of letters, in order of
/// application. Samplers that it does not name are off; an empty one changes nothing. Throws ApiError for
/// unknown names, and for an order that yields another distribution than Warp's: penalties, top-k, top-p,
/// min-p, temperature.
void apply_samplers(const JsonInput& samplers, WarpOptions& options);

}  // namespace spectr::server
