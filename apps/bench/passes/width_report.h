#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apps/plot/plot.h"
#include "apps/support/json.h"

namespace spectr::bench {

/// The model and machine of a width curve.
struct Roofline {
  double bytes_per_second;                    ///< memory bandwidth
  double products_per_node;                   ///< macs per node, about one per weight
  std::optional<double> products_per_second;  ///< 8-bit integer macs per second, if known
};

/// Formats one line per row of measure_widths with the share of the two roofs that each pass reaches.
std::string widths_table(const Json& rows, const Roofline& roof);

/// Formats one line per row of measure_batches (batch_curve.h), with the paper's values if there are any.
std::string batches_table(const Json& rows);

/// Plots time relative to a width of 1 against width, one series per model and depth.
plot::Figure widths_figure(const Json& target, const Json& draft);

}  // namespace spectr::bench
