#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/base/result.h"

namespace spectr::bench {

/// A prompt to generate answers for.
struct Prompt {
  std::vector<std::string> turns;  ///< user turns, at least one; a model answers each before the next
  std::string reference = {};      ///< a good answer to the first turn; empty: none
  std::string category = {};       ///< category of the question; empty: none
  std::string database = {};       ///< database for SQL answers; empty: the prompt does not ask for SQL
};

/// Reads prompts. The file name extension determines the format:
///
///   .jsonl, .json  one object per line, or in .json a list of objects, with `prompt`, `turns` (Spec-Bench,
///                  MT-bench), `question` or `instruction` (AlpacaEval, with its `input`); optionally
///                  `reference`, `answer`, `canonical_solution`, `output` or `query`, `category`, and `db_id`
///                  (Spider)
///
///   .csv           a header line of column names with `prompt` and optionally `reference`; fields may be
///                  quoted
///
///   any other      one prompt per line
///
/// Empty lines are skipped. Reads the first `limit` prompts; 0: all. Fails if a line or entry is in none of
/// these forms, naming file and number, or if there are no prompts.
Result<std::vector<Prompt>> read_prompts(const std::filesystem::path& file, std::size_t limit);

/// Shortens the first turn of each prompt to its first whitespace-separated words, so that sentences of a
/// corpus become beginnings to be continued. Requires: words > 0.
void keep_words(std::vector<Prompt>& prompts, std::size_t words);

}  // namespace spectr::bench
