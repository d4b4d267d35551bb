#include "spectr/decode/verify/plan_walk.h"

#include "spectr/base/recycled.h"
#include "spectr/decode/block.h"

namespace spectr {

Result<Verdict> PlanWalk::select(const BlockStart& start, const Draft& draft, NodeDistributions& target,
                                 Choices& choices) const {
  Verdict verdict;
  RecycledVector<std::optional<std::size_t>> survivors = {std::nullopt};
  NodeId node = TokenTree::root;
  for (;;) {
    const RecycledVector<std::size_t> draws = draft.below(survivors);
    if (draws.empty()) {
      SPECTR_TRY_VOID(draw_bonus(start, draft, target, choices, verdict));
      return verdict;
    }

    RecycledVector<const Distribution*> distributions;
    RecycledVector<Token> tokens;
    for (std::size_t draw : draws) {
      distributions.push_back(draft.draw(draw).distribution);
      tokens.push_back(draft.token(draw));
    }
    SPECTR_TRY(const Distribution* q, target.at(node));
    SPECTR_TRY(const auto plan, rule_.build(DraftDistributions(distributions), *q, options_));
    choices.enter(start.place(node, verdict.path.size(), Purpose::select));
    const Selection y = plan->select(tokens, choices);

    verdict.biases.push_back(plan->bias());
    if (!rule_.lossless) verdict.rejections.push_back(1.0 - plan->acceptance());
    survivors.clear();
    for (std::size_t draw : draws) {
      if (draft.token(draw) == y.token) survivors.emplace_back(draw);
    }
    if (survivors.empty()) {
      verdict.last = y.token;
      verdict.last_source = Source::correction;
      return verdict;
    }
    node = draft.draw(*survivors.front()).node;
    verdict.path.push_back(node);
  }
}

}  // namespace spectr
