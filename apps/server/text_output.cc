#include "apps/server/text_output.h"

#include "spectr/base/utf8.h"

namespace spectr::server {

std::string TextOutput::release(std::size_t until) {
  std::string certain = text_.text().substr(released_, until - released_);
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

Chunk TextOutput::add(const Block& block) {
  Chunk chunk;
  for (std::size_t i = 0; i < block.tokens.size() && !text_.stopped(); ++i) {
    chunk.tokens.push_back(report(block, i));
    const std::size_t before = text_.text().size();
    text_.push(block.tokens[i]);
    if (text_.stopped()) {
      kept_ = i + 1;
    } else {
      characters_ += utf8_characters(std::string_view(text_.text()).substr(before));
    }
  }
  chunk.text = release(text_.certain());
  return chunk;
}

std::string TextOutput::finish() {
  text_.finish();
  return release(text_.text().size());
}

}  // namespace spectr::server
