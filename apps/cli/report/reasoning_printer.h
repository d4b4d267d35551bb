#pragma once

#include <string_view>

namespace spectr::cli {

/// Prints an answer whose thoughts are told apart: they come first, dimmed if the output shows colours, and
/// an empty line follows them.
class ReasoningPrinter {
 public:
  /// What is said has the style; empty: none.
  explicit ReasoningPrinter(std::string_view style = "");

  /// Prints what is new of both at once.
  void print(std::string_view reasoning, std::string_view content);

 private:
  std::string_view style_;
  bool dims_;
  bool thinks_ = false;  // what was printed last is a thought
  bool any_ = false;     // something was printed
};

}  // namespace spectr::cli
