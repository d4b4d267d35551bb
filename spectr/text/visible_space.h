#pragma once

#include <string>
#include <string_view>

namespace spectr {

/// U+2581, as which SentencePiece writes spaces.
constexpr std::string_view visible_space = "\u2581";

/// The text with its spaces made visible, behind one more where it gets a `prefix`.
std::string with_visible_spaces(std::string_view text, bool prefix);
/// The text with its visible spaces made spaces.
std::string with_spaces(std::string_view text);

}  // namespace spectr
