#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "spectr/base/token.h"
#include "spectr/text/stop_words.h"
#include "spectr/text/text_stream.h"

namespace spectr {

/// The continuation of a prompt, token by token: whole characters, up to the first stop word or the end that
/// its lines set.
class StoppingText {
 public:
  /// The tokenizer must outlive it. The text ends before the first character of a line, other than its first,
  /// that follows fewer than `min_indent` blanks and tabs.
  StoppingText(const Tokenizer& tokenizer, std::vector<std::string> stop_words, std::size_t min_indent = 0);

  /// Adds a token; one that ends texts adds nothing to this one. Requires: !stopped(), token within the
  /// vocabulary.
  void push(Token token);
  /// Adds what push() held back, the beginning of a character that did not come to its end, unless a stop
  /// word is complete.
  void finish();
  /// From now on the text ends after its next new line.
  void end_at_new_line() { ends_at_new_line_ = true; }

  const std::string& text() const { return text_; }
  /// Bytes of text() that will stay, whatever comes: the rest could still become a stop word.
  std::size_t certain() const;
  /// Whether the text has ended: a stop word is complete, or a line has ended it.
  bool stopped() const { return ended_by_line_ || !stop_word_.empty(); }
  /// The stop word before which it ended; empty: none.
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
  std::optional<std::size_t> indent_;  // blanks so far of a line that has nothing else yet
  bool ends_at_new_line_ = false;
  bool ended_by_line_ = false;
};

}  // namespace spectr
