#include "spectr/decode/rollback.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "spectr/decode/bonus.h"

namespace spectr {

Result<void> ConfidentDrafter::propose(const BlockStart& start, Models& models, Choices& choices,
                                       Draft& draft) {
  const std::size_t depth = draft_depth(*models.drafts.front(), start.text, std::min(length_, start.left));
  Session& model = *models.drafts.front();
  NodeLaws& laws = draft.laws_of(model, models.warp, start.text, models.vocabulary());
  std::optional<std::size_t> last;
  for (std::size_t level = 0; level < depth; ++level) {
    SPECTR_TRY_VOID(model.score(start.text, draft.tree()));
    SPECTR_TRY(const Distribution* p, laws.at(last ? draft.draw(*last).node : TokenTree::root));
    if (std::ranges::max(p->probabilities()) < fallback_) break;
    choices.enter(start.place(level, level, Purpose::draft));
    last = draft.add(last, p->draw(choices), p);
    if (start.is_end(draft.token(*last))) break;
  }
  return {};
}

Result<Verdict> Rollback::select(const BlockStart& start, const Draft& draft, NodeLaws& target,
                                 Choices& choices) const {
  Verdict verdict;
  NodeId node = TokenTree::root;
  bool rolled_back = false;
  for (std::size_t i = 0; i < draft.draws().size(); ++i) {
    SPECTR_TRY(const Distribution* q, target.at(node));
    if (-std::log((*q)[draft.token(i)]) > rollback_) {
      rolled_back = true;
      break;
    }
    verdict.path.push_back(node = draft.draw(i).node);
  }
  SPECTR_TRY_VOID(draw_bonus(start, draft, target, choices, verdict));
  if (rolled_back) verdict.last_source = Source::correction;
  verdict.biases_known = false;
  return verdict;
}

}  // namespace spectr
