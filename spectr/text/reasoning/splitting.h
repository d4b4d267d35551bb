#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace spectr {

/// White space around thoughts.
inline constexpr std::string_view split_space = " \t\n\v\f\r";
/// The separator between thoughts, or contents, that were not adjacent.
inline constexpr std::string_view between_thoughts = "\n\n";

/// Returns the bytes of white space at the beginning of the text.
inline std::size_t leading_split_space(std::string_view text) {
  return std::min(text.find_first_not_of(split_space), text.size());
}

/// Returns the bytes of the text before the white space at its end.
inline std::size_t before_trailing_split_space(std::string_view text) {
  return text.find_last_not_of(split_space) + 1;  // npos + 1 is 0
}

}  // namespace spectr
