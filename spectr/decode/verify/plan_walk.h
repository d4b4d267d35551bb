#pragma once

#include "spectr/decode/verify/verifiers.h"
#include "spectr/transport/plans.h"

namespace spectr {

/// The walk (SpecTr, arXiv 2310.15141, algorithm 3): the frame that makes a sequence-level rule of any
/// token-level plan.
///
/// At a node, k is the number of tokens drawn from that node's distribution: the children of every surviving
/// copy of the node, in the order drawn. The plan for k drafts gives Y. Every draw equal to Y survives, also
/// when Y came from the residual; if there is none, Y is the correction and the block ends; if nothing was
/// drawn below the survivors, one more token is drawn from the target.
///
/// Theorem. The sequence that blocks strung together give has the target's distribution. *Why:* given all
/// tokens drawn on a level, what was drawn below is independent of the plan, and below draw i it has the
/// draft's distribution after X_i; so whichever draws with X_i = Y survive, what lies below them is again
/// independent and drawn from the draft's distribution after Y, in a number fixed before it is looked at. See
/// docs/mathematics.md.
class PlanWalk final : public Verifier {
 public:
  /// The rule must outlive it.
  PlanWalk(const PlanRule& rule, PlanOptions options) : PlanWalk(rule, rule, options) {}
  /// The same with another rule for nodes whose distributions are short. Each may be any: the proof holds
  /// whichever plan a node has.
  PlanWalk(const PlanRule& dense, const PlanRule& cut, PlanOptions options)
      : dense_(dense), cut_(cut), options_(options) {}

  Result<Verdict> select(const BlockStart& start, const Draft& draft, NodeDistributions& target,
                         Choices& choices) const override;

 private:
  const PlanRule& dense_;
  const PlanRule& cut_;
  PlanOptions options_;
};

}  // namespace spectr
