#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "apps/cli/report/reasoning_printer.h"
#include "spectr/engine/completion_text.h"

namespace spectr::cli {

/// Output on standard output during generation.
enum class Printing {
  nothing,
  text,     ///< completed text, with reasoning dimmed
  sources,  ///< text coloured by the source of its tokens, with a legend
};

/// Prints a completion incrementally.
class TextPrinter {
 public:
  explicit TextPrinter(Printing printing) : printing_(printing) {}

  /// Prints the legend, if there is one, and the prompt.
  void print_prompt(std::string_view prompt);
  void print(const TextDelta& delta);
  /// Ends the line.
  void finish();

 private:
  void print_coloured(const TextDelta& delta);

  Printing printing_;
  ReasoningPrinter parts_;
  std::vector<Source> sources_;  // one per byte of unprinted text
  std::size_t printed_ = 0;
};

}  // namespace spectr::cli
