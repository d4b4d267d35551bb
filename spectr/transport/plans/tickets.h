#pragma once

#include <cstddef>
#include <memory>

#include "spectr/transport/partial_plan.h"
#include "spectr/transport/plans.h"

namespace spectr {

/// The optimal plan for k i.i.d. drafts. With the tokens that p reaches sorted by q/p and P_j, Q_j the masses
/// of the first j, no plan accepts more than α* = 1 + min_j (Q_j − P_j^k) (SpecTr, arXiv 2310.15141, Lemma
/// 3), and this one accepts α*: each draft picks one of its token's pieces of [0, 1], the highest piece wins
/// unless it lies below the cut. Of a token drafted m times the highest piece is drawn at once: (a, b] with
/// probability F(b)^m − F(a)^m, F(u) = share of its pieces below u. A token with q = 0 never wins, nor is it
/// in the residual. Proof: docs/mathematics.md, "Tickets".
///
/// An error where the drafts come from different distributions: the theorem needs equal ones.
/// Cost: O(V) to build; of more than 512 tokens those are made into classes (token_classes.h), with an
/// acceptance within 1e-14 of α*. To select, at most one draw per distinct draft or class (a few where it has
/// more than 256 pieces), with classes another per draft, one of the residual, and no allocation.
Result<std::unique_ptr<TransportPlan>> build_tickets(const DraftDistributions& p, const Distribution& q,
                                                     const PlanOptions& options);

/// The optimal plan for k ≥ 2 i.i.d. draws from p and a target of mass w: the one for the distribution
/// (w q, 1 − w), whose last entry is a rejection, which p never draws. No plan accepts more than
/// α*(w) = 1 + min_j (w Q_j − P_j^k), and this one accepts α*(w). Cost: as of build_tickets, and a copy of
/// both distributions unless w = 1. They must outlive the plan.
std::unique_ptr<PartialPlan> build_partial_tickets(const Distribution& p, std::size_t k, double w,
                                                   const Distribution& q);

}  // namespace spectr
