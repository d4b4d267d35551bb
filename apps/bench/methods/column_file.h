#pragma once

#include <span>
#include <string>
#include <vector>

#include "apps/bench/methods/cells.h"
#include "apps/bench/methods/presets.h"
#include "apps/support/json.h"
#include "spectr/base/result.h"

namespace spectr::bench {

/// Returns settings of methods in the file format `{"cells": [{"method": …, …, "warp": {…}}]}` that `bench
/// tune` writes and `bench methods --column-file` reads. Members that a cell lacks have their default values.
Json column_json(std::span<const Cell* const> cells);

/// Reads such a file and returns one column per cell. Fails if it is unreadable or invalid; the message names
/// file, cell and member. Whether a method supports its settings is checked by expand().
Result<std::vector<Column>> read_columns(const std::string& path);

}  // namespace spectr::bench
