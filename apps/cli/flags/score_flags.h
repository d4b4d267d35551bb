#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "apps/bench/scores.h"
#include "apps/cli/commands/prompt_files.h"

namespace spectr::cli {

/// The values of --score and --databases.
struct ScoreFlags {
  std::string name;       ///< empty: the preset's score, or ROUGE-L if there are references
  std::string databases;  ///< folder with the databases for SQL answers

  void add(CLI::App& command);

  /// Returns the scorer for a data set. `preset_score` is the score of the preset's column. For SQL, the
  /// tables are prepended to the questions. Throws Failure if the score is unknown, the data set has no
  /// references, or an input of the score is missing.
  bench::Scorer scorer(DataSet& set, std::string_view preset_score) const;
};

}  // namespace spectr::cli
