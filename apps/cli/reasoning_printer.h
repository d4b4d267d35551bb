#pragma once

#include <string_view>

namespace spectr::cli {

/// Prints an answer whose thoughts are told apart: before what is said and with a line between, dimmed where
/// the output is a terminal.
class ReasoningPrinter {
 public:
  ReasoningPrinter();

  /// Prints what is new of both at once.
  void print(std::string_view reasoning, std::string_view content);

 private:
  bool dims_;
  bool thinks_ = false;  // what was printed last is a thought
  bool any_ = false;     // something was printed
};

}  // namespace spectr::cli
