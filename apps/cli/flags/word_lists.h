#pragma once

#include <string_view>
#include <vector>

// Lists of words that tables of flags have in a string, separated by spaces.
namespace spectr::cli {

/// Whether a space-separated list has the word.
bool has_word(std::string_view list, std::string_view word);

/// The words of a space-separated list.
std::vector<std::string_view> words_of(std::string_view list);

/// Whether a value asks for nothing, according to a list of neutral values without those of the form
/// "=--flag".
bool is_neutral(std::string_view neutral, std::string_view value);

/// Whether llama.cpp takes the value of a switch's variable for off.
bool is_off(std::string_view value);

/// Whether the word can follow a flag with Values::maybe_word.
bool is_switch_word(std::string_view word);

}  // namespace spectr::cli
