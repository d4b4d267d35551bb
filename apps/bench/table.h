#pragma once

#include "apps/plot/data_table.h"
#include "apps/support/json.h"

namespace spectr::bench {

/// Converts rows with the same keys to a table with one column per key. Nested objects become `outer_inner`
/// at any depth, lists are joined by spaces, and null becomes an empty cell.
plot::DataTable flat(const Json& rows);

}  // namespace spectr::bench
