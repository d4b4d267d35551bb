#include "apps/server/text_output.h"

#include "spectr/base/utf8.h"

namespace spectr::server {

bool TextOutput::append(const std::string& piece) {
  const std::size_t looked = text_.size();
  text_ += piece;
  characters_ += utf8_characters(piece);
  const auto found = stop_words_.find(text_, looked);
  if (!found) return false;
  stop_word_ = found->word;
  text_.resize(found->begin);
  return true;
}

std::string TextOutput::release(std::size_t until) {
  std::string certain = text_.substr(released_, until - released_);
  released_ = until;
  return certain;
}

TokenReport TextOutput::report(const Block& block, std::size_t i) const {
  const Token token = block.tokens[i];
  TokenReport report{token, tokenizer_.piece(token), characters_, block.sources[i],
                     -block.negative_log_likelihoods[i]};
  if (i >= block.details.size()) return report;
  const TokenDetail& detail = block.details[i];
  report.target = detail.target;
  report.draft = detail.draft;
  for (const Likelihood& other : detail.likeliest) {
    report.alternatives.push_back({other.token, tokenizer_.piece(other.token), other.log_probability});
  }
  return report;
}

Piece TextOutput::add(const Block& block) {
  const Vocabulary& vocabulary = tokenizer_.vocabulary();
  Piece piece;
  for (std::size_t i = 0; i < block.tokens.size() && !kept_; ++i) {
    const Token token = block.tokens[i];
    piece.tokens.push_back(report(block, i));
    if (!vocabulary.is_end(token) && append(stream_.push(token))) kept_ = i + 1;
  }
  piece.text = release(kept_ ? text_.size() : stop_words_.certain(text_));
  return piece;
}

std::string TextOutput::finish() {
  if (!kept_) append(stream_.finish());
  return release(text_.size());
}

}  // namespace spectr::server
