#include "spectr/decode/verifiers.h"

#include <algorithm>
#include <cmath>

namespace spectr {

Result<Verdict> AcceptSettled::select(const BlockStart&, const Draft& draft, NodeDistributions&,
                                      Choices&) const {
  Verdict verdict;
  for (std::size_t draw : draft.settled()) verdict.path.push_back(draft.draw(draw).node);
  verdict.path_source = Source::target;
  verdict.biases_known = false;
  return verdict;
}

Result<Verdict> JointThreshold::select(const BlockStart& start, const Draft& draft, NodeDistributions& target,
                                       Choices& choices) const {
  std::size_t accepted = 0;
  const double threshold = std::log(tau_);  // −∞ for τ = 0
  double ratio = 0.0;                       // log Π q/p of the prefix: the product itself would underflow
  NodeId node = TokenTree::root;
  for (std::size_t i = 0; i < draft.draws().size(); ++i) {
    SPECTR_TRY(const Distribution* q, target.at(node));
    const Token x = draft.token(i);
    if ((*q)[x] == 0.0) break;
    ratio += std::log((*q)[x]) - std::log((*draft.draw(i).distribution)[x]);
    node = draft.draw(i).node;
    if (std::min(ratio, 0.0) > threshold) accepted = i + 1;
  }

  Verdict verdict;
  for (std::size_t i = 0; i < accepted; ++i) verdict.path.push_back(draft.draw(i).node);
  SPECTR_TRY_VOID(draw_bonus(start, draft, target, choices, verdict));
  if (verdict.last && accepted < draft.draws().size()) verdict.last_source = Source::correction;
  verdict.biases_known = false;
  return verdict;
}

Result<Verdict> Rollback::select(const BlockStart& start, const Draft& draft, NodeDistributions& target,
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
