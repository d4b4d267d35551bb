#pragma once

#include <span>
#include <string_view>

#include "apps/cli/flags/word_lists.h"

namespace spectr::cli {

/// What follows a flag of llama.cpp.
enum class Values {
  none,        ///< a switch
  maybe_word,  ///< on, off or auto; older releases had a switch
  one,
  two,
};

/// What is done with a flag of llama.cpp that is no option of the command at hand.
enum class Treatment {
  renamed,  ///< it is read as the option that `text` names, if the command has that option
  ignored,  ///< it asks for nothing here
  noted,    ///< it runs without what was asked for, and `text` is the note that says so
  refused,  ///< an error unless the value is neutral; `text` says why and what to use instead
};

/// Flags of llama.cpp's programs that are treated alike. Lists in strings are separated by spaces.
struct LlamaFlags {
  std::string_view names;
  Values values = Values::none;
  Treatment treatment = Treatment::ignored;
  std::string_view text = {};
  /// Values with which a refused flag asks for nothing: words; numbers by value; ">=X", "<=X"; "=--flag": the
  /// value of that option.
  std::string_view neutral = {};
  std::string_view variables = {};  ///< environment variables that set the flag
  std::string_view commands = {};   ///< commands that read this row; empty: all
};

/// Every flag of llama-server, llama-cli and llama-completion that is not an option under the same name.
std::span<const LlamaFlags> llama_flags();

/// The row for a name as `command` reads it, else as another command does; null if there is none. A renamed
/// flag matches only if `has_option` holds for its new name. Cost: linear in the table.
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
