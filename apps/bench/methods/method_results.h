#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/bench/methods/generation.h"
#include "apps/bench/methods/measurement.h"
#include "apps/bench/methods/presets.h"
#include "apps/bench/scores.h"
#include "apps/support/json.h"

namespace spectr::bench {

/// A data set in the target's tokens with its measurements.
struct Part {
  std::string name, file;
  std::vector<TokenPrompt> prompts;
  std::vector<PresetCell> cells;
  std::vector<std::vector<Measurement>> measured = {};  ///< [cell][repetition]
  Scorer scorer = {};

  double mean_tokens() const {
    double all = 0.0;
    for (const TokenPrompt& prompt : prompts) all += static_cast<double>(prompt.tokens);
    return all / static_cast<double>(prompts.size());
  }
};

// Results of the parts. `preset` is null if the settings were given individually.

/// The results of a run.
struct Results {
  Json rows;        ///< one per cell or rank of each data set, in order (method_rows.h)
  Json references;  ///< plain decoding, which ran alternately with the cells; per data set
  Json across;      ///< one per cell with the mean over data sets; empty for a single data set
};

/// Computes the results. Requires: every cell was measured. `relative_to`: see set_relative.
Results results_of(const Preset* preset, const Setup& setup, std::span<const Part> parts,
                   std::string_view relative_to);

/// Formats one table per data set and one across them. `sets` is the output of data_sets_json.
std::string results_text(const Json& sets, const Results& results);

/// Returns `name`, `file`, `prompts` and `mean_tokens` per data set, and `paper` if the preset has the set.
Json data_sets_json(const Preset* preset, std::span<const Part> parts);

/// Formats the mean prompt lengths next to the paper's.
std::string lengths_table(const Json& sets);

/// Describes a preset and the source of the paper's values; empty without a preset.
std::string preset_lines(const Preset* preset);

}  // namespace spectr::bench
