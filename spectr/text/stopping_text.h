#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "spectr/base/token.h"
#include "spectr/text/stop_words.h"
#include "spectr/text/text_stream.h"

namespace spectr {

/// The continuation of a prompt, token by token. It has whole characters, up to the first stop word or the
/// end that its lines set.
class StoppingText {
 public:
  /// The tokenizer must outlive it. The text ends before the first non-blank character of any line after the
  /// first with fewer than `min_indent` blanks and tabs before it.
  StoppingText(const Tokenizer& tokenizer, std::vector<std::string> stop_words, std::size_t min_indent = 0);

  /// Appends a token; end tokens append nothing. Requires: !stopped(), and a token within the
  /// vocabulary.
  void push(Token token);
  /// Appends the incomplete character that push() held back, if any, unless the text has
  /// stopped.
  void finish();
  /// Makes the text end after its next newline.
  void end_at_new_line() { ends_at_new_line_ = true; }

  const std::string& text() const { return text_; }
  /// Returns the bytes of text() that are final: the rest could still become a stop word.
  std::size_t certain() const;
  /// True if the text has ended, by a stop word or by a line.
  bool stopped() const { return ended_by_line_ || !stop_word_.empty(); }
  /// Returns the stop word that ended the text; empty if none did.
  const std::string& stop_word() const { return stop_word_; }

 private:
  void append(const std::string& piece);
  void end_by_line(std::size_t looked);

  const Tokenizer& tokenizer_;
  StopWords words_;
  TextStream stream_;
  std::string text_;
  std::string stop_word_;
  std::size_t min_indent_;
  std::optional<std::size_t> indent_;  // blanks so far of a line that is blank up to now
  bool ends_at_new_line_ = false;
  bool ended_by_line_ = false;
};

}  // namespace spectr
