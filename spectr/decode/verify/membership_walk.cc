#include "spectr/decode/verify/membership_walk.h"

#include <algorithm>
#include <optional>

#include "spectr/decode/block.h"

namespace spectr {

Result<Verdict> MembershipWalk::select(const BlockStart& start, const Draft& draft, NodeDistributions& target,
                                       Choices& choices) const {
  Verdict verdict;
  NodeId node = TokenTree::root;
  const auto is_below = [&draft, &node](const Draw& draw) { return draft.tree().parent(draw.node) == node; };
  while (std::ranges::any_of(draft.draws(), is_below)) {
    SPECTR_TRY(const Distribution* q, target.at(node));
    choices.enter(start.place(node, verdict.path.size(), Purpose::select));
    const Token y = q->draw(choices);
    const auto found = std::ranges::find_if(draft.draws(), [&](const Draw& draw) {
      return is_below(draw) && draft.tree().token(draw.node) == y;
    });
    if (found == draft.draws().end()) {
      verdict.last = y;
      verdict.last_source = Source::correction;
      return verdict;
    }
    node = found->node;
    verdict.path.push_back(node);
  }
  SPECTR_TRY_VOID(draw_bonus(start, draft, target, choices, verdict));
  return verdict;
}

}  // namespace spectr
