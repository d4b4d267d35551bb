#pragma once

#include <string>

#include "apps/json.h"
#include "apps/plot/plot.h"

namespace spectr::bench {

// What `bench methods` shows of its rows (measure_cell.h).

/// A line per row, for people.
std::string methods_table(const Json& rows);

/// Block efficiency against K, a series per method, plan and L.
plot::Figure efficiency_figure(const Json& rows);
/// Speed-up against L, a series per method, plan and K.
plot::Figure speedup_figure(const Json& rows);
/// Share of blocks in which a position's draft was accepted, a series per row.
plot::Figure acceptance_figure(const Json& rows);

}  // namespace spectr::bench
