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

/// A data set in the target's tokens, with what is measured on it.
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

// What is told of them. `preset` is null where the settings were given one by one.

/// What a run says.
struct Results {
  Json rows;        ///< method_rows.h; data set by data set, of each a row per cell or per rank
  Json references;  ///< plain decoding as it ran beside the cells, per data set
  Json across;      ///< of several data sets: a row per cell with the mean over them; else empty
};

/// Requires: every cell was measured. `relative_to`: see set_relative.
Results results_of(const Preset* preset, const Setup& setup, std::span<const Part> parts,
                   std::string_view relative_to);

/// A table per data set, and one across them, for people. `sets` are those of data_sets_json.
std::string results_text(const Json& sets, const Results& results);

/// `name`, `file`, `prompts` and `mean_tokens` of every data set, and `paper` where the preset is about them.
Json data_sets_json(const Preset* preset, std::span<const Part> parts);

/// Mean lengths of prompts beside the paper's.
std::string lengths_table(const Json& sets);

/// What a preset is and where the paper's values come from; empty without one.
std::string preset_lines(const Preset* preset);

}  // namespace spectr::bench
