#include "spectr/text/stopping_text.h"

#include <utility>

namespace spectr {

StoppingText::StoppingText(const Tokenizer& tokenizer, std::vector<std::string> stop_words,
                           std::size_t min_indent)
    : tokenizer_(tokenizer),
      words_(std::move(stop_words)),
      stream_(tokenizer, TextStream::Start::continuation),
      min_indent_(min_indent) {}

void StoppingText::append(const std::string& piece) {
  const std::size_t looked = text_.size();
  text_ += piece;
  if (const auto found = words_.find(text_, looked)) {
    stop_word_ = found->word;
    text_.resize(found->begin);
  }
  end_by_line(looked);
}

/// Ends the text if a line that reaches beyond byte `looked` does, unless a stop word has cut it off.
void StoppingText::end_by_line(std::size_t looked) {
  const auto end = [this](std::size_t size) {
    text_.resize(size);
    stop_word_.clear();
    ended_by_line_ = true;
  };
  for (std::size_t i = looked; i < text_.size(); ++i) {
    const char c = text_[i];
    const bool is_blank = c == ' ' || c == '\t';
    if (indent_ && !is_blank) {
      if (*indent_ < min_indent_) return end(i);
      indent_.reset();
    } else if (indent_) {
      ++*indent_;
    }
    if (c != '\n') continue;
    if (ends_at_new_line_) return end(i + 1);
    indent_ = 0;
  }
}

void StoppingText::push(Token token) {
  if (!tokenizer_.vocabulary().is_end(token)) append(stream_.push(token));
}

void StoppingText::finish() {
  if (!stopped()) append(stream_.finish());
}

std::size_t StoppingText::certain() const {
  return stopped() ? text_.size() : words_.certain(text_);
}

}  // namespace spectr
