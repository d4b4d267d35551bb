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

/// A prompt and what a method answered to its turns.
struct Answered {
  const Prompt* prompt;
  const std::vector<std::string>* texts;
};

/// A number for every answer; none where it has nothing to be compared with.
using Scores = std::vector<std::optional<double>>;

/// A way to say how good answers are.
struct Scorer {
  std::string name;  ///< empty: answers are not scored
  std::function<Result<Scores>(std::span<const Answered>)> score = {};
  bool needs_references = true;
};

/// ROUGE-L of the first answer against its reference (rouge.h).
Scorer rouge_scorer();

/// 1 where the first answer is its reference, but for blanks at both ends; else 0.
Scorer exact_scorer();

/// What a program says, which is run once for all answers of a cell by `sh -c`: on its standard input a JSON
/// object a line, {"prompt": […], "answers": […], "reference", "category"} with a string per turn; on its
/// standard output a number a line, in the same order. Error: the program fails, or prints something else.
Scorer command_scorer(std::string command);

/// Whether the first answer, run as SQL, gives the rows that the reference gives: 100 or 0, so that means are
/// execution accuracies in per cent. A query is the first SELECT or WITH of an answer up to a semicolon, an
/// empty line, or the end of its block of code; rows are compared in their order where the reference says
/// ORDER BY. `folder` has the databases as Spider has them: ID/ID.sqlite, or ID/schema.sql. Answers can
/// read, and nothing else. Error: the folder is not there, or this program was built without SQLite.
Result<Scorer> sql_scorer(const std::string& folder);

/// Puts the tables of its database before every question for SQL. Error: there is no such database in the
/// folder, or this program was built without SQLite.
Result<void> show_tables(std::vector<Prompt>& prompts, const std::string& folder);

}  // namespace spectr::bench
