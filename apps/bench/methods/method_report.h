#pragma once

#include <string>

#include "apps/support/json.h"

namespace spectr::bench {

/// Formats the rows of `bench methods` (method_rows.h) as a table, one line per row, with the paper's values
/// next to the measured ones. Columns that are constant or empty are omitted.
std::string methods_table(const Json& rows);

/// Formats the scores per category of prompts: one line per category, one column per row, with the paper's
/// values next to the measured ones. Empty if no row has categories.
std::string categories_table(const Json& rows);

}  // namespace spectr::bench
