#pragma once

#include <cstddef>
#include <memory>

#include "spectr/transport/partial_plan.h"
#include "spectr/transport/plans.h"

namespace spectr {

/// The optimal plan for k i.i.d. drafts. With the tokens that p reaches sorted by q/p and P_j, Q_j the masses
/// of the first j, no plan accepts more than α* = 1 + min_j (Q_j − P_j^k) (SpecTr, arXiv 2310.15141, Lemma
/// 3), and this plan accepts α*. Each draft picks one of its token's pieces of [0, 1]; the highest piece wins
/// unless it lies below the cut. For a token drafted m times the highest piece is drawn at once: (a, b] with
/// probability F(b)^m − F(a)^m, where F(u) is the share of its pieces below u. A token with q = 0 neither
/// wins nor is in the residual. Proof: docs/mathematics.md, "Tickets".
///
/// Fails if the drafts come from different distributions. Cost: O(V) to build; more than 512 tokens are
/// reduced to classes (token_classes.h), with an acceptance within 1e-14 of α*. Selecting takes at most one
/// draw per distinct draft or class (a few if it has more than 256 pieces), one more per draft with classes,
/// and one from the residual; it does not allocate.
Result<std::unique_ptr<TransportPlan>> build_tickets(const DraftDistributions& p, const Distribution& q,
                                                     const PlanOptions& options);

/// The optimal plan for k ≥ 2 i.i.d. draws from p and a target of mass w: the plan for the target (w q, 1 −
/// w), whose last entry is a rejection, which p never draws. No plan accepts more than
/// α*(w) = 1 + min_j (w Q_j − P_j^k), and this one accepts α*(w). Cost: that of build_tickets, and a copy of
/// both distributions unless w = 1. They must outlive the plan.
std::unique_ptr<PartialPlan> build_partial_tickets(const Distribution& p, std::size_t k, double w,
                                                   const Distribution& q);

}  // namespace spectr
