#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apps/plot/plot.h"
#include "apps/support/json.h"

namespace spectr::bench {

/// The model and the machine that a width curve was measured on.
struct Roofline {
  double bytes_per_second;                    ///< of memory
  double products_per_node;                   ///< about one per weight
  std::optional<double> products_per_second;  ///< of 8-bit integers, where it is known
};

/// A line per row of measure_widths, with what share of the two roofs each pass reaches.
std::string widths_table(const Json& rows, const Roofline& roof);

/// A line per row of measure_batches (batch_curve.h), the paper's values beside ours where rows have `paper`.
std::string batches_table(const Json& rows);

/// Time against width, relative to a width of one; a series per model and depth.
plot::Figure widths_figure(const Json& target, const Json& draft);

}  // namespace spectr::bench
