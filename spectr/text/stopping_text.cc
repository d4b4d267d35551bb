#include "spectr/text/stopping_text.h"

#include <utility>

namespace spectr {

StoppingText::StoppingText(const Tokenizer& tokenizer, std::vector<std::string> stop_words)
    : tokenizer_(tokenizer),
      words_(std::move(stop_words)),
      stream_(tokenizer, TextStream::Start::continuation) {}

void StoppingText::append(const std::string& piece) {
  const std::size_t looked = text_.size();
  text_ += piece;
  const auto found = words_.find(text_, looked);
  if (!found) return;
  stop_word_ = found->word;
  text_.resize(found->begin);
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
