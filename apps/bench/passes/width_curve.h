#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "apps/bench/energy_meter.h"
#include "apps/support/json.h"
#include "spectr/nn/transformer.h"

namespace spectr::bench {

struct WidthSettings {
  std::vector<std::size_t> widths = {1, 2, 4, 8, 16, 32, 64};  ///< tree nodes of a pass
  std::vector<std::size_t> depths = {0};                       ///< tokens of context before them
  std::size_t rounds = 5;
};

/// Milliseconds of a pass for every width and depth: rows {width, depth, ms, relative, weight_mb, joules}. A
/// round goes through all widths, so that whatever else the machine does meets all of them; of all passes of
/// a width the fastest counts. `relative` is to the width of one at the same depth; `weight_mb` the weights
/// that such a pass reads, of experts those that one of its rows has chosen.
/// Error: a width of 0 or above the vocabulary, a depth that the context has no room for.
/// `done(rounds done, of all)` is called as the work goes on.
Result<Json> measure_widths(const Transformer& model, const WidthSettings& settings, EnergyMeter& meter,
                            const std::function<void(std::size_t, std::size_t)>& done);

}  // namespace spectr::bench
