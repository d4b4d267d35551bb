#pragma once

#include <string>
#include <vector>

#include "apps/json.h"
#include "apps/plot/data_table.h"

namespace spectr::bench {

/// Text in aligned columns under a line of names; the first column to the left, the others to the right.
std::string aligned(const std::vector<std::string>& columns,
                    const std::vector<std::vector<std::string>>& rows);

/// Rows with the same keys as a table: a column per key, nested objects as `outer_inner`, however deep, lists
/// joined by spaces, null as an empty cell.
plot::DataTable flat(const Json& rows);

}  // namespace spectr::bench
