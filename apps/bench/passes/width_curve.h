#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "apps/bench/energy_meter.h"
#include "apps/support/json.h"
#include "spectr/nn/transformer.h"

namespace spectr::bench {

struct WidthSettings {
  std::vector<std::size_t> widths = {1, 2, 4, 8, 16, 32, 64};  ///< tree nodes per pass
  std::vector<std::size_t> depths = {0};                       ///< tokens of context before them
  std::size_t rounds = 5;
};

/// Measures passes of every width and depth. Returns rows {width, depth, ms, relative, weight_mb, joules}.
/// Each round covers all widths, so that other load on the machine affects all of them; `ms` is the fastest
/// pass of a width. `relative` is relative to a width of 1 at the same depth; `weight_mb` is the size of the
/// weights that such a pass reads, counting only experts that a row has chosen. Fails if there are no widths
/// or depths, a width is 0 or exceeds the vocabulary, or the context has no room for a depth. Calls
/// `done(rounds done, total)` as it progresses.
Result<Json> measure_widths(const Transformer& model, const WidthSettings& settings, EnergyMeter& meter,
                            const std::function<void(std::size_t, std::size_t)>& done);

}  // namespace spectr::bench
