#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/base/result.h"

namespace spectr::bench {

/// What a text is generated from.
struct Prompt {
  std::vector<std::string> turns;  ///< of the user, at least one; a model answers each before the next
  std::string reference = {};      ///< a good answer to the first; empty: the file has none
  std::string category = {};       ///< what kind of question it is; empty: the file has none
  std::string database = {};       ///< that SQL answers are about; empty: it asks for no SQL
};

/// Reads prompts; the form follows from the name of the file:
///
///   .jsonl, .json  an object per line, in .json also a list of objects, with `prompt`, `turns` (as in
///   Spec-Bench and MT-bench), `question` or `instruction` (as in AlpacaEval, with its `input`),
///                  and perhaps `reference`, `answer`, `canonical_solution`, `output` or `query`, `category`,
///                  and `db_id` (as in Spider)
///
///   .csv           a line of column names with `prompt` among them, perhaps `reference`; a field may be in
///                  quotes
///
///   any other      a prompt per line
///
/// Empty lines are left out. At most `limit` prompts, the first ones; 0: all. Error: a line or entry that is
/// none of these, by file and number; a file without prompts.
Result<std::vector<Prompt>> read_prompts(const std::filesystem::path& file, std::size_t limit);

/// Cuts the first turn of every prompt to its first words, which are what blanks separate: sentences of a
/// corpus become beginnings to be continued. Requires: words > 0.
void keep_words(std::vector<Prompt>& prompts, std::size_t words);

}  // namespace spectr::bench
