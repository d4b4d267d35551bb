#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "apps/bench/scores.h"
#include "apps/cli/commands/prompt_files.h"

namespace spectr::cli {

/// --score and --databases: how answers are judged.
struct ScoreFlags {
  std::string name;       ///< empty: as the preset says, or ROUGE-L where there are references
  std::string databases;  ///< the folder that SQL answers are run on

  void add(CLI::App& command);

  /// What judges the answers to a data set; `preset_score` is what its column of a preset asks for. For SQL
  /// the tables are put before the questions. Throws Failure: there is no such score, the data set has
  /// nothing to compare with, or what the score needs was not given.
  bench::Scorer scorer(DataSet& set, std::string_view preset_score) const;
};

}  // namespace spectr::cli
