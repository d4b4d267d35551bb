#include "lab/judge.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "spectr/sampling/likelihood.h"

namespace spectr::lab {
namespace {

/// Maximum length of a judged text, in tokens: one pass.
constexpr std::size_t longest = 256;

}  // namespace

Result<Judge> Judge::make(const StoryModels& models, By by) {
  const Transformer& scorer = by == By::scorer ? *models.scorer->target : models.target();
  SPECTR_TRY(auto session, scorer.start(std::min(longest, scorer.context()), longest));
  return Judge(models, by, std::move(session));
}

Result<std::optional<double>> Judge::score(std::span<const Token> prompt,
                                           std::span<const Token> continuation) {
  std::vector<Token> text(prompt.begin(), prompt.end());
  text.insert(text.end(), continuation.begin(), continuation.end());
  std::size_t begin = prompt.size();
  if (by_ == By::scorer) {
    const auto before = models_.scorer->tokenizer->encode(models_.tokenizer().decode(prompt));
    text = models_.scorer->tokenizer->encode(models_.tokenizer().decode(text));
    // The prompt's last characters can share a token with the following text.
    begin = static_cast<std::size_t>(std::ranges::mismatch(before, text).in1 - before.begin());
  }
  begin = std::max<std::size_t>(begin, 1);  // the first token has no prediction
  if (text.size() <= begin) return std::nullopt;

  SPECTR_TRY(const std::vector<NodeId> nodes, score_chain(*session_, text));
  double sum = 0.0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    sum -= negative_log_likelihood(session_->logits(nodes[i - 1]), text[i]);
  }
  return sum / static_cast<double>(text.size() - begin);
}

}  // namespace spectr::lab
