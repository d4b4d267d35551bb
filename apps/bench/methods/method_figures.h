#pragma once

#include <string>
#include <utility>
#include <vector>

#include "apps/plot/plot.h"
#include "apps/support/json.h"

namespace spectr::bench {

/// Returns figures of the rows of `bench methods` (method_rows.h) with their file names. A figure without
/// points has no series.
///
///   block-efficiency  against K, a series per method, plan and L
///   speed-up          against L, a series per method, plan and K
///   acceptance        share of blocks in which a position's draft was accepted, a series per row
///   Y-against-X       perplexity, speed or score (Y) against threshold, beams or block length (X), if rows
///                     of a method differ in X alone
std::vector<std::pair<std::string, plot::Figure>> method_figures(const Json& rows);

}  // namespace spectr::bench
