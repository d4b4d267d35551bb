#pragma once

#include "apps/json.h"

namespace spectr::cli {

/// One line on stdout.
void print_json(const Json& value);

}  // namespace spectr::cli
