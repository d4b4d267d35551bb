#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/reasoning_printer.h"
#include "spectr/base/token.h"
#include "spectr/decode/block.h"
#include "spectr/text/reasoning.h"
#include "spectr/text/stopping_text.h"

namespace spectr::cli {

/// What goes to stdout while a text is generated.
enum class Printing {
  nothing,
  text,     ///< the text as it becomes certain
  sources,  ///< the same, coloured by where its tokens came from, with a legend
};

/// Collects a generated text token by token, ends it at a stop word, and prints it as it goes. What could
/// still become a stop word is held back. With a splitter a text that is printed without its sources is
/// printed as an answer whose thoughts are told apart.
class TextPrinter {
 public:
  TextPrinter(const Tokenizer& tokenizer, std::vector<std::string> stop_words, Printing printing,
              std::unique_ptr<ReasoningSplitter> splitter = nullptr);

  /// Prints the prompt (and the legend) before the text.
  void show_prompt(std::string_view prompt);

  /// Adds a block. Where a stop word is complete: how many of the tokens belong to the text up to it.
  std::optional<std::size_t> add(std::span<const Token> tokens, std::span<const Source> sources);

  /// Prints what was held back and ends the line.
  void finish();

  const std::string& text() const { return text_.text(); }

 private:
  void print_until(std::size_t end);
  void print_text(std::string_view more);

  StoppingText text_;
  Printing printing_;
  std::unique_ptr<ReasoningSplitter> splitter_;
  ReasoningPrinter parts_;       // of the splitter
  std::vector<Source> sources_;  // one per byte of the text
  std::size_t printed_ = 0;
};

}  // namespace spectr::cli
