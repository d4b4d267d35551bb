#pragma once

#include <functional>
#include <span>

#include "apps/bench/energy_meter.h"
#include "apps/bench/methods/generation.h"
#include "apps/bench/methods/measurement.h"
#include "apps/bench/scores.h"
#include "apps/support/json.h"

namespace spectr::bench {

/// Settings of a measurement.
struct RunSettings {
  std::optional<double> seconds = {};  ///< time limit for answers, after which no prompt begins; none: all
  Scorer scorer = {};                  ///< scores the answers; empty: they are not scored
};

/// Measures a cell over prompts, each paired with plain decoding of the same prompt. Which of the two runs
/// first alternates from prompt to prompt, so that other load on the machine affects both. A time budget
/// applies to each of the two separately. Calls `done` after every prompt. Requires: at least one prompt.
/// Fails if decoding or the scorer fails.
Result<Measurement> measure_cell(const Setup& setup, const Cell& cell, std::span<const TokenPrompt> prompts,
                                 const RunSettings& settings, EnergyMeter& meter,
                                 const std::function<void()>& done);

/// Returns the key under which a measurement is stored between runs. It covers everything that the
/// measurement depends on, except for the machine.
Json key_of(const Setup& setup, const Cell& cell, std::span<const TokenPrompt> prompts,
            const RunSettings& settings, int threads);

}  // namespace spectr::bench
