#pragma once

#include <string>

#include "spectr/base/token.h"
#include "spectr/text/tokenizer.h"

namespace spectr {

/// Turns tokens into text one by one, for showing it while it is generated: what it gives out ends with a
/// complete UTF-8 character. Bytes that can become part of no character are passed on as they are.
class TextStream {
 public:
  /// `text`: the tokens are a text from its beginning, and the spaces that encode() puts in are taken out.
  /// `continuation`: they go on after a prompt, and nothing is taken out.
  enum class Start { text, continuation };

  /// The tokenizer must outlive the stream.
  TextStream(const Tokenizer& tokenizer, Start start);

  /// Adds a token; returns the text that is now certain, which may be empty.
  /// Requires: token within the vocabulary.
  std::string push(Token token);
  /// Returns what push() has held back: the beginning of a character that did not come to its end.
  std::string finish();

 private:
  const Tokenizer& tokenizer_;
  bool removes_spaces_;
  bool after_added_space_;  // the next piece begins with a space that encode() has put in
  std::string held_;
};

}  // namespace spectr
