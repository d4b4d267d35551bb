#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/bench/prompts.h"
#include "spectr/base/result.h"

namespace spectr::bench {

/// A prompt and a method's answers to its turns.
struct Answered {
  const Prompt* prompt;
  const std::vector<std::string>* texts;
};

/// One score per answer; none if there is no reference to compare it with.
using Scores = std::vector<std::optional<double>>;

/// A metric of the quality of answers.
struct Scorer {
  std::string name;  ///< empty: answers are not scored
  std::function<Result<Scores>(std::span<const Answered>)> score = {};
  bool needs_references = true;
};

/// Scores the first answer by ROUGE-L against its reference (rouge.h).
Scorer rouge_scorer();

/// Scores 1 if the first answer equals its reference up to surrounding whitespace, else 0.
Scorer exact_scorer();

/// Scores with a command, run by `sh -c` once for all answers of a cell. It reads one JSON object per line,
/// {"prompt": […], "answers": […], "reference", "category"} with one string per turn, and must print one
/// number per line in the same order. Fails if the command fails or prints anything else.
Scorer command_scorer(std::string command);

/// Scores 100 if the first answer, executed as SQL, returns the same rows as the reference, else 0, so that
/// means are execution accuracies in per cent. The query begins at the first SELECT or WITH and ends at a
/// semicolon, an empty line, or the end of its code block. Row order matters only if the reference has ORDER
/// BY. `folder` contains databases in Spider's layout: ID/ID.sqlite or ID/schema.sql. Queries are read-only.
/// Fails if the folder is missing or the program was built without SQLite.
Result<Scorer> sql_scorer(const std::string& folder);

/// Prepends the tables of its database to each SQL question. Fails if the folder does not have the database,
/// or if this program was built without SQLite.
Result<void> show_tables(std::vector<Prompt>& prompts, const std::string& folder);

}  // namespace spectr::bench
