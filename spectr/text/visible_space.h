#pragma once

#include <string>
#include <string_view>

namespace spectr {

/// U+2581, with which SentencePiece replaces spaces.
constexpr std::string_view visible_space = "\u2581";

/// Returns the text with its spaces replaced by visible ones, after an additional one if `prefix`.
std::string with_visible_spaces(std::string_view text, bool prefix);
/// Returns the text with its visible spaces replaced by spaces.
std::string with_spaces(std::string_view text);

}  // namespace spectr
