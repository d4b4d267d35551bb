#pragma once

#include <string_view>
#include <vector>

// Space-separated lists of words, as in the tables of flags.
namespace spectr::cli {

/// Returns true if a space-separated list contains the word.
bool has_word(std::string_view list, std::string_view word);

/// Returns the words of a space-separated list.
std::vector<std::string_view> words_of(std::string_view list);

/// Returns true if a value is in a list of neutral values. Entries of the form "=--flag" are
/// not evaluated.
bool is_neutral(std::string_view neutral, std::string_view value);

/// Returns true if llama.cpp interprets the value of a switch's variable as off.
bool is_off(std::string_view value);

/// Returns true if the word can follow a flag with Values::maybe_word.
bool is_switch_word(std::string_view word);

}  // namespace spectr::cli
