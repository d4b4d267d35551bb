#include "spectr/decode/models.h"

#include <algorithm>

namespace spectr {

Result<Models> Models::start(const LanguageModel& target, std::span<const LanguageModel* const> drafts,
                             const Warp& warp, std::size_t context, std::size_t nodes) {
  Models models{nullptr, {}, warp};
  SPECTR_TRY(models.target, target.start(context, nodes));
  for (const LanguageModel* draft : drafts) {
    const std::size_t most = std::min(models.target->context(), draft->context());
    SPECTR_TRY(models.drafts.emplace_back(), draft->start(most, nodes));
  }
  return models;
}

std::size_t draft_depth(const Session& draft, std::span<const Token> text, std::size_t most) {
  const auto lacks = [V = draft.vocabulary()](Token token) { return static_cast<std::size_t>(token) >= V; };
  if (draft.context() <= text.size() || std::ranges::any_of(text, lacks)) return 0;
  return std::min(most, draft.context() - text.size());
}

Result<void> read_prompt(Session& session, std::span<const Token> prompt) {
  if (prompt.size() < 2) return {};
  const auto before_last = prompt.first(prompt.size() - 1);
  if (before_last.size() > session.context() || session.length() >= before_last.size()) return {};
  return session.score(before_last, TokenTree(before_last.back()));
}

}  // namespace spectr
