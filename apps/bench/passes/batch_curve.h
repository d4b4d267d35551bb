#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "apps/bench/energy_meter.h"
#include "apps/support/json.h"
#include "spectr/lm/language_model.h"

namespace spectr::bench {

/// Settings of passes over several sequences at once.
struct BatchSettings {
  std::vector<std::size_t> lengths = {};            ///< tokens of each sequence scored by a pass
  std::vector<std::size_t> batches = {1, 2, 4, 8};  ///< number of sequences
  std::size_t runs = 100;                           ///< passes per combination of length and batch
  std::size_t depth = 0;                            ///< tokens of context before them
  bool independent = false;                         ///< separate sequences instead of a tree on one sequence
};

/// Measures passes of every length and batch. For one sequence, a pass scores a tree of `batch` chains of
/// `length` drafts, as in verifying K = batch drafts of L = length tokens; for independent sequences, each
/// with its own KV cache, it scores the last `length` tokens of each. Cells are interleaved in tenths of
/// their runs, after one warm-up pass each.
///
/// Returns rows {length, batch, independent, runs, mean_ms, sd_ms, ms (the fastest), relative, ms_per_input,
/// seconds and joules of all runs, joules_per_run, joules_per_input}. `relative` is mean_ms over `base_ms`
/// or, without it, over mean_ms of the first cell.
///
/// Fails if there is no length or batch, one is 0, a tree is wider than the vocabulary, or the context is too
/// small. Calls `done(passes so far, total)` as it progresses.
Result<Json> measure_batches(const LanguageModel& model, const BatchSettings& settings,
                             std::optional<double> base_ms, EnergyMeter& meter,
                             const std::function<void(std::size_t, std::size_t)>& done);

}  // namespace spectr::bench
