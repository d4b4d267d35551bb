#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/text/jinja/value.h"

namespace spectr::jinja {

/// Splits a string into characters, as views. A byte that is not UTF-8 counts as a character.
std::vector<std::string_view> characters(std::string_view text);

/// Returns the first position of `part` in `text` from `from` on, in bytes, or npos. Cost: linear in both.
std::size_t position_of(std::string_view text, std::string_view part, std::size_t from = 0);

/// Parses an integer in a base as Python does: with surrounding white space, a sign, a prefix of the base,
/// and underscores between digits. Throws if it does not fit.
std::optional<std::int64_t> integer_in(std::string_view text, int base = 10);
/// Parses a number as Python does.
std::optional<double> real_in(std::string_view text);

/// Returns the text with its characters in reverse order.
MarkedText reversed(const MarkedText& text);

/// Removes characters at the ends: white space, or those of `characters`. Searching these at each position is
/// charged. Returns a view of the text.
std::string_view strip(Run& run, std::string_view text, const Value& characters, bool left, bool right);

/// Splits at the occurrences of `by`, or at white space if `by` is none or undefined, at most `most` times (<
/// 0: no limit). Returns views of the text, charged as the values that they become. Throws if `by` is an
/// empty string.
std::vector<std::string_view> split(Run& run, std::string_view text, const Value& by, std::int64_t most);
std::vector<std::string_view> split_lines(Run& run, std::string_view text, bool keeps_ends = false);

/// Returns the number of non-overlapping occurrences of `of` in the text. An empty string occurs before and
/// after each character.
std::size_t occurrences(std::string_view text, const Value& of);

}  // namespace spectr::jinja
