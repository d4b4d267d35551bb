#pragma once

#include <string>

#include "apps/support/json.h"

namespace spectr::bench {

/// The rows of `bench methods` (method_rows.h) as a table for people, a line each, the paper's values beside
/// ours. What is the same in all of them, or missing in all, is left out.
std::string methods_table(const Json& rows);

/// The scores of every category of prompts, a line each, a column per row, the paper's values beside ours;
/// empty where no row has any.
std::string categories_table(const Json& rows);

}  // namespace spectr::bench
