#include "spectr/engine/completion_text.h"

#include <algorithm>
#include <iterator>

#include "spectr/base/utf8.h"

namespace spectr {
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
  TextDelta delta;
  for (std::size_t i = 0; i < block.tokens.size() && !text_.stopped(); ++i) {
    delta.tokens.push_back(report(block, i));
    const std::size_t before = text_.text().size();
    text_.push(block.tokens[i]);
    delta.tokens.back().end = text_.text().size();
    if (text_.stopped()) {
      kept_ = i + 1;
    } else {
      characters_ += utf8_characters(std::string_view(text_.text()).substr(before));
    }
    if (!splitter_) continue;
    ++undecided_;
    split(splitter_->push(release(text_.certain())), delta);
  }
  if (!splitter_) delta.text = release(text_.certain());
  return delta;
}

void CompletionText::split(ReasoningSplitter::Parts parts, TextDelta& delta) {
  const bool is_content = !parts.content.empty(), is_reasoning = !parts.thoughts.empty();
  if (is_reasoning) reasoning_tokens_ += undecided_;
  if (is_reasoning || is_content) undecided_ = 0;
  delta.append({.text = std::move(parts.content),
                .reasoning = std::move(parts.reasoning),
                .thoughts = std::move(parts.thoughts)});
}

TextDelta CompletionText::finish() {
  text_.finish();
  const std::string_view rest = release(text_.text().size());
  if (!splitter_) return {std::string(rest)};
  TextDelta delta;
  split(splitter_->push(rest), delta);
  split(splitter_->finish(), delta);
  return delta;
}

}  // namespace spectr
