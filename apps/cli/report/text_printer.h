#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "apps/cli/report/reasoning_printer.h"
#include "spectr/engine/completion_text.h"

namespace spectr::cli {

/// What goes to standard output while a text is generated.
enum class Printing {
  nothing,
  text,     ///< the text as it becomes certain, the reasoning of an answer dimmed
  sources,  ///< the text coloured by where its tokens came from, with a legend
};

/// Prints a completion as it grows.
class TextPrinter {
 public:
  explicit TextPrinter(Printing printing) : printing_(printing) {}

  /// Prints the prompt (and the legend) before the text.
  void print_prompt(std::string_view prompt);
  void print(const TextDelta& delta);
  /// Ends the line.
  void finish();

 private:
  void print_coloured(const TextDelta& delta);

  Printing printing_;
  ReasoningPrinter parts_;
  std::vector<Source> sources_;  // one per byte of the text that is not printed yet
  std::size_t printed_ = 0;
};

}  // namespace spectr::cli
