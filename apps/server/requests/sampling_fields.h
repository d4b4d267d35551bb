#pragma once

#include "apps/server/requests/fields.h"
#include "spectr/sampling/warp_options.h"

namespace spectr::server {

/// Reads llama.cpp's fields of samplers, and their order in `samplers`, into the options. Throws ApiError
/// that names the field.
void read_sampling_fields(Fields& fields, WarpOptions& options);

}  // namespace spectr::server
