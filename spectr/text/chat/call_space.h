#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace spectr {

/// White space between the parts of a call.
inline constexpr std::string_view call_space = " \t\r\n";

/// Returns the position of the first character that is not white space, from `at` on, or the text's length.
inline std::size_t after_space(std::string_view text, std::size_t at = 0) {
  return std::min(text.find_first_not_of(call_space, at), text.size());
}

/// Returns the length of the text without trailing white space.
inline std::size_t before_end_space(std::string_view text) {
  return text.find_last_not_of(call_space) + 1;  // npos + 1 is 0
}

/// Returns the text without leading and trailing white space.
inline std::string_view without_space(std::string_view text) {
  text.remove_prefix(after_space(text));
  return text.substr(0, before_end_space(text));
}

}  // namespace spectr
