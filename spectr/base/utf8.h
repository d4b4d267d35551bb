#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spectr {

/// Returns the length in bytes of the well-formed UTF-8 character that `text` begins with (Unicode 15, table
/// 3-7), or 0 if there is none: `text` is empty, or does not begin with a well-formed character.
std::size_t utf8_length(std::string_view text);

/// Returns the character that `text` begins with, or its first byte if there is none. Requires: not empty.
std::string_view first_character(std::string_view text);

/// Returns the code point of a character, or nothing unless `character` is a single well-formed one.
std::optional<std::uint32_t> code_point_of(std::string_view character);

/// Returns the number of bytes, 0 … 3, at the end of `text` that begin a well-formed character without
/// completing it. Further bytes may complete the character.
std::size_t utf8_unfinished(std::string_view text);

/// Appends the character with this code point. Returns false, appending nothing, unless it is a scalar value.
bool append_utf8(std::uint32_t character, std::string& out);

/// Returns the number of characters of `text`; each byte outside well-formed UTF-8 counts as one.
std::size_t utf8_characters(std::string_view text);

}  // namespace spectr
