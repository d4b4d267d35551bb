#pragma once

#include <cstdint>
#include <string_view>

#include "spectr/text/marked_text.h"

namespace spectr::jinja {

// Properties and cases of Unicode characters, as in Python's strings.

/// Returns the code point of a character, or a number beyond Unicode for a byte that is not UTF-8. Requires:
/// one character.
std::uint32_t code_of(std::string_view character);

bool is_letter(std::uint32_t character);
/// True for a digit from 0 to 9 in any script.
bool is_decimal(std::uint32_t character);
/// True for a decimal digit, also as a superscript, subscript or in a circle.
bool is_digit(std::uint32_t character);
/// True for a digit, a fraction or a number.
bool is_numeric(std::uint32_t character);
/// True for a letter or a number.
bool is_alphanumeric(std::uint32_t character);
bool is_space(std::uint32_t character);
/// True if repr() writes it unescaped.
bool is_printable(std::uint32_t character);

/// Cases of a text. `title` capitalizes the first letter of each run of cased letters, `words` letters after
/// white space, hyphens and opening brackets.
enum class Case { upper, lower, capitalized, title, words, swapped, folded };

MarkedText in_case(const MarkedText& text, Case which);

/// True if the text has cased letters, all of them in that case: upper, lower or title.
bool is_in_case(std::string_view text, Case which);

}  // namespace spectr::jinja
