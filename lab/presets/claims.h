#pragma once

#include <string>

#include "apps/bench/methods/presets.h"
#include "apps/support/json.h"

namespace spectr::lab {

/// The ratios that the paper's text claims of a table: `{of: "speed"|"energy", method, to, printed,
/// as_printed, paper}` each. `printed` is what the text says, `paper` the mean over the table's columns of
/// the ratio of what the table prints: of speeds as they are, of energies the other way round, so that more
/// is better.
Json claims_json(const bench::Preset& preset);

/// Adds `ours` and `ours_over`: the mean of the same ratio over the data sets and columns that were measured,
/// and their number; null where there are none. Rows are those of `bench methods`.
void add_measured(Json& claims, const Json& rows);

/// A line per claim.
std::string claims_table(const Json& claims);

}  // namespace spectr::lab
