#pragma once

#include <string>

#include "spectr/base/token.h"
#include "spectr/text/tokenizer.h"

namespace spectr {

/// Converts tokens to text one by one, to show it while it is generated: its output always ends with a
/// complete UTF-8 character. Bytes that cannot belong to any character are passed through.
class TextStream {
 public:
  /// `text`: the tokens are a text from its beginning; spaces that encode() inserts are removed.
  /// `continuation`: they continue a prompt; nothing is removed.
  enum class Start { text, continuation };

  /// The tokenizer must outlive the stream.
  TextStream(const Tokenizer& tokenizer, Start start);

  /// Adds a token. Returns the text that is now complete, which may be empty.
  /// Requires: token within the vocabulary.
  std::string push(Token token);
  /// Returns what push() has held back: the bytes of an incomplete character.
  std::string finish();

 private:
  const Tokenizer& tokenizer_;
  bool removes_spaces_;
  bool after_added_space_;  // the next piece begins with a space that encode() has inserted
  std::string held_;
};

}  // namespace spectr
