#pragma once

#include <span>
#include <string>
#include <vector>

#include "apps/bench/methods/cells.h"
#include "apps/bench/methods/presets.h"
#include "apps/support/json.h"
#include "spectr/base/result.h"

namespace spectr::bench {

/// Settings of methods as a file keeps them, `{"cells": [{"method": …, …, "warp": {…}}]}`: what `bench tune`
/// has chosen, and `bench methods --column-file` runs. What a cell does not tell is as if no flag was given.
Json column_json(std::span<const Cell* const> cells);

/// The columns of such a file, one for each of its cells. Error: it cannot be read, or says something else,
/// by file, cell and name; whether a method can have such settings is for expand() to say.
Result<std::vector<Column>> read_columns(const std::string& path);

}  // namespace spectr::bench
