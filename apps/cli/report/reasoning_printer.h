#pragma once

#include <string_view>

namespace spectr::cli {

/// Prints an answer whose reasoning is separate: the reasoning comes first, dimmed if the output has colours,
/// followed by an empty line.
class ReasoningPrinter {
 public:
  /// `style` is the style of the content; empty: none.
  explicit ReasoningPrinter(std::string_view style = "");

  /// Prints the new parts of both.
  void print(std::string_view reasoning, std::string_view content);

 private:
  std::string_view style_;
  bool dims_;
  bool thinks_ = false;  // the last output was reasoning
  bool any_ = false;     // there was some output
};

}  // namespace spectr::cli
