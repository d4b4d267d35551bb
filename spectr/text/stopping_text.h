#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "spectr/base/token.h"
#include "spectr/text/stop_words.h"
#include "spectr/text/text_stream.h"

namespace spectr {

/// The continuation of a prompt, token by token: whole characters, up to the first stop word.
class StoppingText {
 public:
  /// The tokenizer must outlive it.
  StoppingText(const Tokenizer& tokenizer, std::vector<std::string> stop_words);

  /// Adds a token; one that ends texts adds nothing to this one. Requires: no stop word is complete, token
  /// within the vocabulary.
  void push(Token token);
  /// Adds what push() held back, the beginning of a character that did not come to its end, unless a stop
  /// word is complete.
  void finish();

  const std::string& text() const { return text_; }
  /// Bytes of text() that will stay, whatever comes: the rest could still become a stop word.
  std::size_t certain() const;
  /// Whether a stop word is complete. The text ends before it.
  bool stopped() const { return !stop_word_.empty(); }
  /// That word; empty: none.
  const std::string& stop_word() const { return stop_word_; }

 private:
  void append(const std::string& piece);

  const Tokenizer& tokenizer_;
  StopWords words_;
  TextStream stream_;
  std::string text_;
  std::string stop_word_;
};

}  // namespace spectr
