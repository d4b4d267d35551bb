#include "spectr/decode/verify/batch_walk.h"

#include <algorithm>
#include <utility>

#include "spectr/base/recycled.h"
#include "spectr/decode/block.h"
#include "spectr/transport/plans/maximal_coupling.h"
#include "spectr/transport/plans/recursive_rejection.h"

namespace spectr {

Result<Verdict> BatchWalk::select(const BlockStart& start, const Draft& draft, NodeDistributions& target,
                                  Choices& choices) const {
  Verdict verdict;
  std::optional<std::size_t> survivor;
  for (;;) {
    const RecycledVector<std::size_t> draws = draft.below(std::span(&survivor, 1));
    if (draws.empty()) {
      SPECTR_TRY_VOID(draw_bonus(start, draft, target, choices, verdict));
      return verdict;
    }
    const NodeId node = survivor ? draft.draw(*survivor).node : TokenTree::root;
    SPECTR_TRY(const Distribution* q, target.at(node));
    const DraftDistributions drafting(*draft.draw(draws.front()).distribution, draws.size());
    SPECTR_TRY(const auto plan,
               survivor ? build_maximal(drafting, *q, {}) : build_recursive(drafting, *q, {}));
    RecycledVector<Token> tokens;
    for (std::size_t draw : draws) tokens.push_back(draft.token(draw));
    choices.enter(start.place(node, verdict.path.size(), Purpose::select));
    const Selection y = plan->select(tokens, choices);
    if (!y.accepted) {
      verdict.last = y.token;
      verdict.last_source = Source::correction;
      return verdict;
    }
    // The continuations of equal first tokens have the same distribution, so the first copy is used.
    survivor = draws[static_cast<std::size_t>(std::ranges::find(tokens, y.token) - tokens.begin())];
    verdict.path.push_back(draft.draw(*survivor).node);
  }
}

}  // namespace spectr
