#pragma once

#include <cstdint>
#include <string_view>

#include "spectr/text/marked_text.h"

namespace spectr::jinja {

// Properties and cases of Unicode characters, as Python's strings have them.

/// Returns the number of a character, or one beyond Unicode if it is a byte that is no UTF-8. Requires: one
/// character.
std::uint32_t code_of(std::string_view character);

bool is_letter(std::uint32_t character);
/// A digit from 0 to 9 in any script.
bool is_decimal(std::uint32_t character);
/// A decimal, or one in a superscript, subscript or circle.
bool is_digit(std::uint32_t character);
/// A digit, a fraction or a number.
bool is_numeric(std::uint32_t character);
/// A letter or a number.
bool is_alphanumeric(std::uint32_t character);
bool is_space(std::uint32_t character);
/// Whether repr() writes it as it is.
bool is_printable(std::uint32_t character);

/// Cases of a text. `title` begins each run of cased letters with a capital, `words` what follows white
/// space, a hyphen or an opening bracket.
enum class Case { upper, lower, capitalized, title, words, swapped, folded };

MarkedText in_case(MarkedText text, Case which);

/// Whether the text has cased letters, and all of them are in that case: upper, lower or title.
bool is_in_case(std::string_view text, Case which);

}  // namespace spectr::jinja
