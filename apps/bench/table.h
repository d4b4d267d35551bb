#pragma once

#include "apps/plot/data_table.h"
#include "apps/support/json.h"

namespace spectr::bench {

/// Rows with the same keys as a table: a column per key, nested objects as `outer_inner`, however deep, lists
/// joined by spaces, null as an empty cell.
plot::DataTable flat(const Json& rows);

}  // namespace spectr::bench
