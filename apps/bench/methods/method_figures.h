#pragma once

#include <string>
#include <utility>
#include <vector>

#include "apps/plot/plot.h"
#include "apps/support/json.h"

namespace spectr::bench {

/// Pictures of the rows of `bench methods` (method_rows.h), each with the name of its files. One without
/// points has no series.
///
///   block-efficiency  against K, a series per method, plan and L
///   speed-up          against L, a series per method, plan and K
///   acceptance        share of blocks in which a position's draft was accepted, a series per row
///   Y-against-X       Y perplexity, speed or score, X threshold, beams or block length, where some method's
///                     rows differ in that alone
std::vector<std::pair<std::string, plot::Figure>> method_figures(const Json& rows);

}  // namespace spectr::bench
