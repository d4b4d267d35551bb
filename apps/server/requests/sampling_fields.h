#pragma once

#include "apps/server/requests/fields.h"
#include "spectr/sampling/warp_options.h"

namespace spectr::server {

/// Reads the fields of the table of settings of sampling, and the order of samplers in `samplers`, into the
/// options. Throws ApiError naming the field.
void read_sampling_fields(Fields& fields, WarpOptions& options);

}  // namespace spectr::server
