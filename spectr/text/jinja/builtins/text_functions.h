#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/text/jinja/value.h"

namespace spectr::jinja {

/// A string in its characters; a byte that is no UTF-8 is one of them. They are views of the text.
std::vector<std::string_view> characters(std::string_view text);

/// The first place of `part` in `text` from `from` on, in bytes, or npos. Cost: linear in both.
std::size_t position_of(std::string_view text, std::string_view part, std::size_t from = 0);

/// The integer that a text in that base is, as Python reads it: with white space around it, a sign, a prefix
/// of the base, and underscores between digits. Throws if it does not fit.
std::optional<std::int64_t> integer_in(std::string_view text, int base = 10);
/// The number that a text is, as Python reads it.
std::optional<double> real_in(std::string_view text);

/// The text from its last character to its first.
MarkedText reversed(const MarkedText& text);

/// Without the characters at its ends: white space, or those of `characters`. Each of these is looked for at
/// each place, and charged. A view of the text.
std::string_view strip(Run& run, std::string_view text, const Value& characters, bool left, bool right);

/// The parts between the occurrences of `by`, or between white space where it is none or undefined: `most`
/// cuts at most, < 0: all. They are views of the text, charged as the values that they become. Throws where
/// `by` is an empty string.
std::vector<std::string_view> split(Run& run, std::string_view text, const Value& by, std::int64_t most);
std::vector<std::string_view> split_lines(Run& run, std::string_view text, bool keeps_ends = false);

/// How often `of` stands in the text, places that overlap counted once; an empty string stands around each
/// character.
std::size_t occurrences(std::string_view text, const Value& of);

}  // namespace spectr::jinja
