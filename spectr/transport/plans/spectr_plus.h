#pragma once

#include <memory>

#include "spectr/transport/plans.h"

namespace spectr {

/// STr⁺ (SpecTr++, Ahn, Beirami, Sun, Suresh, 2023): generalised k-Seq whose factors α_i minimise the
/// probability of rejection (LP_k, rejection_program.h) for the sets Ω_i = {p_i ≥ q/ρ*} of k-Seq. It is never
/// worse than k-Seq, whose factors α_i = 1/ρ* are feasible. For drafts from different distributions the sets
/// start from the smallest valid ρ of k-Seq for these; drafts are tested in the given order.
///
/// With options.rounds = T it is the paper's iOPT^(T): T rounds of the iteration that STr⁺⁺ runs to
/// convergence; T = 1 is STr⁺. Fails for fewer than one round.
///
/// parameters: alphas, u (probabilities that the first i drafts are rejected), iterations (0: no improvement
/// over k-Seq), rho; fallback, "k-seq: …", if the solver failed and the plan is k-Seq itself.
///
/// Cost: k-Seq's search for ρ, two passes over the distributions (a few per draft if they differ), and a
/// linear program with k columns. For one random distribution of 1,000 tokens this takes about 0.06 ms at
/// k = 32, 2 ms at k = 128, 14 ms at k = 256.
Result<std::unique_ptr<TransportPlan>> build_str_plus(const DraftDistributions& p, const Distribution& q,
                                                      const PlanOptions& options);

/// STr⁺⁺: iterates STr⁺. After each solution, tokens whose test is certain to pass, α_i q ≥ p_i, leave Ω_i.
/// This does not change the current solution, which stays feasible, so the rejection probability never rises.
/// It ends when no token leaves. Cost: that of STr⁺ per round, with at most k V rounds and usually a handful.
/// If the solver fails after the first round, the last round's plan is kept and parameters has a fallback
/// entry. (Several distributions with q-masses below about 1e-12 can cause this, also in STr⁺.)
Result<std::unique_ptr<TransportPlan>> build_str_plus_plus(const DraftDistributions& p, const Distribution& q,
                                                           const PlanOptions& options);

}  // namespace spectr
