#include "apps/cli/flags/score_flags.h"

#include <algorithm>

#include "apps/cli/failure.h"
#include "apps/cli/flags/flag_values.h"

namespace spectr::cli {
namespace {

constexpr std::string_view command_prefix = "command:";

bool has_reference(const bench::Prompt& prompt) {
  return !prompt.reference.empty();
}

bench::Scorer sql_scorer(DataSet& set, const std::string& databases) {
  if (std::ranges::all_of(set.prompts, &std::string::empty, &bench::Prompt::database)) {
    throw Failure(Status::usage, fmt::format("--score sql: the prompts of {} ({}) name no databases (db_id)",
                                             set.name, set.file));
  }
  if (databases.empty()) {
    throw Failure(Status::usage,
                  "--score sql runs answers on the databases of the questions: give --databases DIR with "
                  "ID/ID.sqlite or ID/schema.sql for every db_id, as Spider's folder `database` has them");
  }
  bench::Scorer scorer = need(bench::sql_scorer(databases));
  need(bench::show_tables(set.prompts, databases));
  return scorer;
}

bench::Scorer make_scorer(const std::string& name, DataSet& set, const std::string& databases) {
  if (name == "rouge-l") return bench::rouge_scorer();
  if (name == "exact") return bench::exact_scorer();
  if (name == "sql") return sql_scorer(set, databases);
  if (name.starts_with(command_prefix) && name.size() > command_prefix.size())
    return bench::command_scorer(name.substr(command_prefix.size()));
  if (name == "command") {
    throw Failure(Status::usage,
                  fmt::format("the answers to {} are judged by a program: give --score command:CMD, "
                              "which reads JSON lines and prints a number a line",
                              set.name));
  }
  throw Failure(
      Status::usage,
      fmt::format("--score: there is no score '{}'; the scores are rouge-l, exact, sql, command:CMD", name));
}

}  // namespace

void ScoreFlags::add(CLI::App& command) {
  command
      .add_option("--score", name,
                  "how good answers are: rouge-l or exact (against references), sql (their rows), or what a "
                  "program says that reads JSON lines and prints a number a line (default: the preset's, or "
                  "rouge-l where there are references)")
      ->type_name("rouge-l|exact|sql|command:CMD")
      ->transform(not_empty("score"));
  command
      .add_option("--databases", databases,
                  "folder with ID/ID.sqlite or ID/schema.sql, whose tables stand before questions for SQL")
      ->transform(file_name());
}

bench::Scorer ScoreFlags::scorer(DataSet& set, std::string_view preset_score) const {
  const bool any = std::ranges::any_of(set.prompts, has_reference);
  const std::string wanted = !name.empty() ? name : std::string(preset_score);
  if (wanted.empty()) return any ? bench::rouge_scorer() : bench::Scorer{};
  bench::Scorer scorer = make_scorer(wanted, set, databases);
  if (scorer.needs_references && !any) {
    throw Failure(
        Status::usage,
        fmt::format("--score {}: {} ({}) has no references to compare answers with (reference, answer, "
                    "output or query)",
                    wanted, set.name, set.file));
  }
  return scorer;
}

}  // namespace spectr::cli
