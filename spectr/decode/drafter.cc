#include "spectr/decode/drafter.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace spectr {

OwnedModels::OwnedModels(std::unique_ptr<Session> session, const Warp& warp) : Models{*session, {}, warp} {
  sessions_.push_back(std::move(session));
}

void OwnedModels::add_draft(std::unique_ptr<Session> session) {
  drafts.push_back(session.get());
  sessions_.push_back(std::move(session));
}

Result<OwnedModels> OwnedModels::start(const LanguageModel& target,
                                       std::span<const LanguageModel* const> drafts, const Warp& warp,
                                       std::size_t context, std::size_t nodes) {
  SPECTR_TRY(std::unique_ptr<Session> session, target.start(context, nodes));
  OwnedModels models(std::move(session), warp);
  for (const LanguageModel* draft : drafts) {
    const std::size_t room = std::min(models.target.context(), draft->context());
    SPECTR_TRY(session, draft->start(room, nodes));
    models.add_draft(std::move(session));
  }
  return models;
}

std::size_t draft_depth(const Session& draft, std::span<const Token> sequence, std::size_t max_depth) {
  const auto lacks = [V = draft.vocabulary()](Token token) { return static_cast<std::size_t>(token) >= V; };
  if (draft.context() <= sequence.size() || std::ranges::any_of(sequence, lacks)) return 0;
  return std::min({max_depth, draft.max_depth(), draft.context() - sequence.size()});
}

Result<void> read_prompt(Session& session, std::span<const Token> prompt) {
  if (prompt.size() < 2) return {};
  const auto before_last = prompt.first(prompt.size() - 1);
  if (before_last.size() > session.context() || session.length() >= before_last.size()) return {};
  return session.score(before_last, TokenTree(before_last.back()));
}

Result<void> Drafter::open(const BlockStart& first, Models& models) {
  // Drafts first: a draft model that reads the target's states makes the target compute the prompt in pieces.
  for (Session* draft : models.drafts) {
    if (draft_depth(*draft, first.sequence, first.left) > 0)
      SPECTR_TRY_VOID(read_prompt(*draft, first.sequence));
  }
  return read_prompt(models.target, first.sequence);
}

Result<void> ConfidentDrafter::propose(const BlockStart& start, Models& models, Choices& choices,
                                       Draft& draft) {
  Session& model = *models.drafts.front();
  const std::size_t depth = draft_depth(model, start.sequence, std::min(length_, start.left));
  NodeDistributions& distributions =
      draft.distributions_of(model, models.warp, start.sequence, models.vocabulary());
  std::optional<std::size_t> last;
  for (std::size_t level = 0; level < depth; ++level) {
    SPECTR_TRY_VOID(model.score(start.sequence, draft.tree()));
    SPECTR_TRY(const Distribution* p, distributions.at(last ? draft.draw(*last).node : TokenTree::root));
    if (std::ranges::max(p->probabilities()) < fallback_) break;
    choices.enter(start.place(level, level, Purpose::draft));
    last = draft.add(last, p->draw(choices), p);
    if (start.is_end(draft.token(*last))) break;
  }
  return {};
}

}  // namespace spectr
