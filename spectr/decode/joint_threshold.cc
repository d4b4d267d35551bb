#include "spectr/decode/joint_threshold.h"

#include <cmath>

#include "spectr/decode/bonus.h"

namespace spectr {

Result<Verdict> JointThreshold::select(const BlockStart& start, const Draft& draft, NodeLaws& target,
                                       Choices& choices) const {
  std::size_t accepted = 0;
  const double least = std::log(tau_);  // −∞ for τ = 0
  double ratio = 0.0;                   // log Π q/p of the prefix: the product itself would underflow
  NodeId node = TokenTree::root;
  for (std::size_t i = 0; i < draft.draws().size(); ++i) {
    SPECTR_TRY(const Distribution* q, target.at(node));
    const Token x = draft.token(i);
    if ((*q)[x] == 0.0) break;
    ratio += std::log((*q)[x]) - std::log((*draft.draw(i).law)[x]);
    node = draft.draw(i).node;
    if (ratio > least) accepted = i + 1;
  }

  Verdict verdict;
  for (std::size_t i = 0; i < accepted; ++i) verdict.path.push_back(draft.draw(i).node);
  SPECTR_TRY_VOID(draw_bonus(start, draft, target, choices, verdict));
  if (verdict.last && accepted < draft.draws().size()) verdict.last_source = Source::correction;
  verdict.biases_known = false;
  return verdict;
}

}  // namespace spectr
