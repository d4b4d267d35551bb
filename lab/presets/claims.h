#pragma once

#include <string>

#include "apps/bench/methods/presets.h"
#include "apps/support/json.h"

namespace spectr::lab {

/// Returns the ratios that the paper's text claims about a table: for each, `{of: "speed"|"energy", method,
/// to, printed, as_printed, paper}`. `printed` is the value in the text, `paper` the mean over the table's
/// columns of the ratio of its printed values: method/to for speeds, to/method for energies, so that larger
/// is better.
Json claims_json(const bench::Preset& preset);

/// Adds `ours` and `ours_over`: the mean of the same ratio over the measured data sets and columns, and their
/// number; null if there are none. Rows are those of `bench methods`.
void add_measured(Json& claims, const Json& rows);

/// Returns a table with one line per claim.
std::string claims_table(const Json& claims);

}  // namespace spectr::lab
