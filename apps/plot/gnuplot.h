#pragma once

#include <string_view>

#include "spectr/base/result.h"

namespace spectr::plot {

/// Runs gnuplot on a script. Fails if gnuplot is not installed, or with the first line that it reports.
Result<void> run_gnuplot(std::string_view script);

}  // namespace spectr::plot
