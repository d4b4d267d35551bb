#pragma once

#include "apps/server/requests/fields.h"

namespace spectr::server {

/// Reads what other servers know and this one does not: a field that could change the text is accepted with a
/// value that leaves it as it is; one that could not is ignored. Throws ApiError that names the field.
void read_foreign_fields(Fields& fields);

}  // namespace spectr::server
