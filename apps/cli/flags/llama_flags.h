#pragma once

#include <span>
#include <string_view>

#include "apps/cli/flags/word_lists.h"

namespace spectr::cli {

/// Values of a flag of llama.cpp.
enum class Values {
  none,        ///< a switch
  maybe_word,  ///< on, off or auto; a switch in older releases
  one,
  two,
};

/// Treatment of a flag of llama.cpp that is not an option of the current command.
enum class Treatment {
  renamed,  ///< read as the option named by `text`, if the command has it
  ignored,  ///< has no effect here
  noted,    ///< accepted without effect; `text` is a notice that says so
  refused,  ///< an error unless the value is neutral; `text` gives the reason and an alternative
};

/// A group of llama.cpp's flags with the same treatment. Lists in strings are separated by spaces.
struct LlamaFlags {
  std::string_view names;
  Values values = Values::none;
  Treatment treatment = Treatment::ignored;
  std::string_view text = {};
  /// Neutral values, with which a refused flag is accepted: words; numbers, compared by value; ">=X", "<=X";
  /// "=--flag" for the value of that option.
  std::string_view neutral = {};
  std::string_view variables = {};  ///< environment variables that set the flag
  std::string_view commands = {};   ///< commands that this row applies to; empty: all
};

/// Returns all flags of llama-server, llama-cli and llama-completion that spectr has not under the same name.
std::span<const LlamaFlags> llama_flags();

/// Returns the row of a name for `command`, or else for another command; null if there is none. A renamed
/// flag matches only if `has_option` is true for its new name. Linear in the size of the table.
template <class HasOption>
const LlamaFlags* find_llama_flag(std::string_view name, std::string_view command,
                                  const HasOption& has_option);

template <class HasOption>
const LlamaFlags* find_llama_flag(std::string_view name, std::string_view command,
                                  const HasOption& has_option) {
  const LlamaFlags* other = nullptr;
  for (const LlamaFlags& row : llama_flags()) {
    if (!has_word(row.names, name)) continue;
    if (row.treatment == Treatment::renamed && !has_option(row.text)) continue;
    if (row.commands.empty() || has_word(row.commands, command)) return &row;
    if (other == nullptr) other = &row;
  }
  return other;
}

}  // namespace spectr::cli
