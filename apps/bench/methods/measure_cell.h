#pragma once

#include <functional>
#include <span>

#include "apps/bench/energy_meter.h"
#include "apps/bench/methods/generation.h"
#include "apps/bench/methods/measurement.h"
#include "apps/bench/scores.h"
#include "apps/support/json.h"

namespace spectr::bench {

/// How a cell is run over prompts.
struct RunSettings {
  std::optional<double> seconds = {};  ///< no prompt is begun after so many seconds of answers; none: all are
  Scorer scorer = {};                  ///< of the answers; empty: they are not scored
};

/// Runs a cell over prompts, each beside plain decoding of the same prompt: plain and method take turns, and
/// turns at being first, so that whatever else the machine does meets both. With a time budget each of the
/// two ends when it has used its own up.
/// `done` is called after every prompt. Requires: at least one prompt. Error: what the scorer says.
Result<Measurement> measure_cell(const Setup& setup, const Cell& cell, std::span<const TokenPrompt> prompts,
                                 const RunSettings& settings, EnergyMeter& meter,
                                 const std::function<void()>& done);

/// Everything that a measurement depends on, except for the machine: the key that it is kept under between
/// runs.
Json key_of(const Setup& setup, const Cell& cell, std::span<const TokenPrompt> prompts,
            const RunSettings& settings, int threads);

}  // namespace spectr::bench
