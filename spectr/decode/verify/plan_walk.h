#pragma once

#include "spectr/decode/verify/verifiers.h"
#include "spectr/transport/plans.h"

namespace spectr {

/// The walk (SpecTr, arXiv 2310.15141, algorithm 3), which turns any token-level plan into a sequence-level
/// rule.
///
/// At a node, k is the number of tokens drawn from that node's distribution: the children of every surviving
/// copy of the node, in the order drawn. The plan for k drafts returns Y. Every draw equal to Y survives,
/// even if Y came from the residual. If there is none, Y is the correction and the block ends. If there are
/// no draws below the survivors, one more token is drawn from the target.
///
/// Theorem. The concatenation of blocks has the target's distribution. *Why:* given all tokens drawn on a
/// level, the draws below it are independent of the plan, and those below draw i have the draft's
/// distribution after X_i. So whichever draws with X_i = Y survive, the draws below them are again
/// independent and from the draft's distribution after Y, and their number is fixed before they are examined.
/// See docs/mathematics.md.
class PlanWalk final : public Verifier {
 public:
  /// The rule must outlive it.
  PlanWalk(const PlanRule& rule, PlanOptions options) : rule_(rule), options_(options) {}

  Result<Verdict> select(const BlockStart& start, const Draft& draft, NodeDistributions& target,
                         Choices& choices) const override;

 private:
  const PlanRule& rule_;
  PlanOptions options_;
};

}  // namespace spectr
