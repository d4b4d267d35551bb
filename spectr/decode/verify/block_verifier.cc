#include "spectr/decode/verify/block_verifier.h"

#include <algorithm>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/base/recycled.h"
#include "spectr/decode/block.h"
#include "spectr/decode/verify/excess_distribution.h"

namespace spectr {

Result<Verdict> BlockVerifier::select(const BlockStart& start, const Draft& draft, NodeDistributions& target,
                                      Choices& choices) const {
  const auto draws = draft.draws();
  RecycledVector<NodeId> nodes;
  RecycledVector<const Distribution*> p;
  for (std::size_t i = 0; i < draws.size(); ++i) {
    SPECTR_CHECK(draws[i].parent == (i == 0 ? std::nullopt : std::optional(i - 1)));  // one chain
    nodes.push_back(draws[i].node);
    p.push_back(draws[i].distribution);
  }
  return verify_block(start, draft, nodes, p, target, choices);
}

Result<Verdict> verify_block(const BlockStart& start, const Draft& draft, std::span<const NodeId> nodes,
                             std::span<const Distribution* const> p, NodeDistributions& target,
                             Choices& choices) {
  const std::size_t length = nodes.size();
  const auto node = [&](std::size_t i) { return i == 0 ? TokenTree::root : nodes[i - 1]; };
  RecycledVector<double> c = {1.0};
  for (std::size_t i = 0; i < length; ++i) {
    SPECTR_TRY(const Distribution* q, target.at(node(i)));
    const Token x = draft.tree().token(nodes[i]);
    c.push_back(std::min(1.0, c[i] * (*q)[x] / (*p[i])[x]));
  }

  std::size_t i = length;
  std::optional<ExcessDistribution> excess;  // after the first i drafts; nullopt for i = length
  const Distribution* q = nullptr;
  for (;; --i) {
    if (i < length) {
      SPECTR_TRY(q, target.at(node(i)));
      excess.emplace(c[i], *q, *p[i]);
    }
    choices.enter(start.place(node(i), i, Purpose::select));
    if (i == 0 || choices.accept(excess ? excess->share(c[i]) : c[i])) break;
  }

  Verdict verdict;
  for (std::size_t j = 1; j <= i; ++j) verdict.path.push_back(node(j));
  if (!excess) {
    SPECTR_TRY_VOID(draw_bonus(start, draft, target, choices, verdict));
    return verdict;
  }
  choices.enter(start.place(node(i), i, Purpose::residual));
  const auto left = std::move(*excess).distribution();
  verdict.last = (left ? *left : *q).draw(choices);
  verdict.last_source = Source::correction;
  return verdict;
}

}  // namespace spectr
