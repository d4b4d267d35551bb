#pragma once

#include <string_view>

#include "spectr/base/result.h"

namespace spectr::plot {

/// Feeds a script to gnuplot. Error: gnuplot is not installed, or the first line of what it complained about.
Result<void> run_gnuplot(std::string_view script);

}  // namespace spectr::plot
