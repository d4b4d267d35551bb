#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "apps/bench/energy_meter.h"
#include "apps/support/json.h"
#include "spectr/lm/language_model.h"

namespace spectr::bench {

/// Passes over several sequences at once.
struct BatchSettings {
  std::vector<std::size_t> lengths = {};            ///< tokens of each sequence that a pass scores
  std::vector<std::size_t> batches = {1, 2, 4, 8};  ///< sequences
  std::size_t runs = 100;                           ///< passes of every length and batch
  std::size_t depth = 0;                            ///< tokens of text before them
  bool independent = false;                         ///< texts of their own, instead of one text's tree
};

/// What passes of every length and batch cost. Of one text, a pass scores a tree of `batch` chains of
/// `length` drafts behind the last token, as verifying K = batch drafts of L = length tokens does; of
/// independent texts, each with its own cache, the last `length` tokens of each. All cells take turns, a
/// tenth of their runs at a time, after one pass each that does not count.
///
/// Rows {length, batch, independent, runs, mean_ms, sd_ms, ms (the fastest), relative, ms_per_input, seconds
/// and joules of all runs, joules_per_run, joules_per_input}; `relative` is mean_ms over `base_ms`, or
/// without one over that of the first cell.
///
/// Error: no length or batch, one of 0, a tree that is wider than the vocabulary, or a text that the context
/// has no room for. `done(passes so far, of all)` is called as the work goes on.
Result<Json> measure_batches(const LanguageModel& model, const BatchSettings& settings,
                             std::optional<double> base_ms, EnergyMeter& meter,
                             const std::function<void(std::size_t, std::size_t)>& done);

}  // namespace spectr::bench
