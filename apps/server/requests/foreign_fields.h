#pragma once

#include "apps/server/requests/fields.h"

namespace spectr::server {

/// Reads fields of other servers that this one does not support. A field that could affect completions is
/// accepted only with a neutral value; others are ignored. Throws ApiError naming the field.
void read_foreign_fields(Fields& fields);

}  // namespace spectr::server
