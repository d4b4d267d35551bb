#include "spectr/engine/completion_text.h"

#include <algorithm>
#include <iterator>

#include "spectr/base/utf8.h"

namespace spectr {
namespace {

TextDelta delta_of(ReasoningSplitter::Parts parts) {
  return {.text = std::move(parts.content),
          .reasoning = std::move(parts.reasoning),
          .thoughts = std::move(parts.thoughts)};
}

}  // namespace

void TextDelta::append(TextDelta later) {
  for (ThoughtSpan span : later.thoughts) {
    span.begin += span.kept ? text.size() : reasoning.size();
    thoughts.push_back(span);
  }
  text += later.text;
  reasoning += later.reasoning;
  std::ranges::move(later.tokens, std::back_inserter(tokens));
  std::ranges::move(later.prompt, std::back_inserter(prompt));
}

std::string_view CompletionText::release(std::size_t until) {
  const std::size_t from = std::exchange(released_, until);
  return std::string_view(text_.text()).substr(from, until - from);
}

TokenReport CompletionText::report(const Block& block, std::size_t i) const {
  const Token token = block.tokens[i];
  TokenReport report{token, tokenizer_.piece(token), characters_,
                     0,     block.sources[i],        -block.negative_log_likelihoods[i]};
  if (i >= block.details.size()) return report;
  const TokenDetail& detail = block.details[i];
  report.target = detail.target;
  report.draft = detail.draft;
  for (const Likelihood& other : detail.likeliest) {
    report.alternatives.push_back({other.token, tokenizer_.piece(other.token), other.log_probability});
  }
  return report;
}

TextDelta CompletionText::add(const Block& block) {
  std::vector<TokenReport> tokens;
  for (std::size_t i = 0; i < block.tokens.size() && !text_.stopped(); ++i) {
    tokens.push_back(report(block, i));
    const std::size_t before = text_.text().size();
    text_.push(block.tokens[i]);
    tokens.back().end = text_.text().size();
    if (text_.stopped()) {
      kept_ = i + 1;
    } else {
      characters_ += utf8_characters(std::string_view(text_.text()).substr(before));
    }
  }
  const std::string_view certain = release(text_.certain());
  TextDelta delta = splitter_ ? delta_of(splitter_->push(certain)) : TextDelta{std::string(certain)};
  delta.tokens = std::move(tokens);
  return delta;
}

TextDelta CompletionText::finish() {
  text_.finish();
  const std::string_view rest = release(text_.text().size());
  if (!splitter_) return {std::string(rest)};
  TextDelta delta = delta_of(splitter_->push(rest));
  delta.append(delta_of(splitter_->finish()));
  return delta;
}

}  // namespace spectr
