#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace spectr {

/// Length in bytes of the well-formed UTF-8 character that `text` begins with (Unicode 15, table 3-7);
/// 0 where there is none: text is empty, or its first byte is no part of well-formed UTF-8.
std::size_t utf8_length(std::string_view text);

/// The character that `text` begins with; a byte that begins none stands for itself. Requires: not empty.
std::string_view first_character(std::string_view text);

/// Bytes at the end of `text` that begin a well-formed character without completing it: 0 … 3. More bytes
/// may turn them into a character.
std::size_t utf8_unfinished(std::string_view text);

/// Appends the character of that number (a Unicode scalar value); false, and nothing, where it is none.
bool append_utf8(std::uint32_t character, std::string& out);

/// Characters of `text`; a byte that is no part of well-formed UTF-8 is one.
std::size_t utf8_characters(std::string_view text);

}  // namespace spectr
