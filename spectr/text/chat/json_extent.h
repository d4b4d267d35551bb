#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spectr {

/// Finds the end of a JSON object or list in a growing text. Only brackets and strings are checked: a
/// complete text may still be invalid JSON.
class JsonExtent {
 public:
  static constexpr std::size_t max_depth = 64;
  enum class State { open, complete, invalid };

  /// Takes the next character. Requires: the state is `open`.
  State push(char c);

  /// Returns the length of the object or list that `text` begins with, or 0 if it is incomplete or invalid.
  static std::size_t length_of(std::string_view text);

 private:
  std::string open_;  // expected closing brackets, the innermost last
  bool in_string_ = false;
  bool escaped_ = false;
};

}  // namespace spectr
