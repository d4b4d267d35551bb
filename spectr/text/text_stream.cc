#include "spectr/text/text_stream.h"

#include <utility>

#include "spectr/base/utf8.h"

namespace spectr {

TextStream::TextStream(const Tokenizer& tokenizer, Start start)
    : tokenizer_(tokenizer),
      removes_spaces_(start == Start::text && tokenizer.adds_prefix_space()),
      after_added_space_(removes_spaces_) {}

std::string TextStream::push(Token token) {
  std::string piece = tokenizer_.piece(token);
  const TokenKind kind = tokenizer_.vocabulary().kind(token);
  if (kind == TokenKind::user_defined || kind == TokenKind::control) {
    after_added_space_ = removes_spaces_;
  } else if (!piece.empty()) {
    if (after_added_space_ && piece.front() == ' ') piece.erase(0, 1);
    after_added_space_ = false;
  }
  std::string text = std::exchange(held_, {}) + piece;
  const std::size_t complete = text.size() - utf8_unfinished(text);
  held_ = text.substr(complete);
  text.resize(complete);
  return text;
}

std::string TextStream::finish() {
  return std::exchange(held_, {});
}

}  // namespace spectr
