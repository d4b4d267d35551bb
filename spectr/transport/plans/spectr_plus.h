#pragma once

#include <memory>

#include "spectr/transport/plans.h"

namespace spectr {

/// STr⁺ (SpecTr++, Ahn, Beirami, Sun, Suresh, 2023): generalised k-Seq whose factors α_i minimise the
/// probability of rejection (LP_k, rejection_program.h) for the sets Ω_i = {p_i ≥ q/ρ*} of k-Seq. Never worse
/// than k-Seq, whose factors α_i = 1/ρ* are feasible. For drafts from different distributions the sets start
/// from the smallest valid ρ of k-Seq for those distributions, drafts are tested in the order given.
///
/// With options.rounds = T it is the paper's iOPT^(T), T rounds of what STr⁺⁺ repeats to the end: STr⁺ for
/// T = 1. Error: fewer than one round.
///
/// parameters: alphas, u (probabilities that the first i drafts are rejected), iterations (0: nothing was to
/// be won beyond k-Seq), rho; fallback, "k-seq: …", where the solver failed and the plan is k-Seq itself.
///
/// Cost: k-Seq's search for ρ, two passes over the distributions (a few per draft where those differ), and a
/// linear program of k columns: for one random distribution of 1,000 tokens some 0.06 ms at k = 32, 2 ms at
/// k = 128, 14 ms at k = 256.
Result<std::unique_ptr<TransportPlan>> build_str_plus(const DraftDistributions& p, const Distribution& q,
                                                      const PlanOptions& options);

/// STr⁺⁺: iterates STr⁺. After each solution a token leaves Ω_i where its test is certain to pass,
/// α_i q ≥ p_i; nothing changes for the solution at hand, which so stays feasible, and the cost never rises.
/// Ends when no token leaves: the cost of STr⁺ for each round, at most k V of them and usually a handful. A
/// solver failure after the first round keeps the last round's plan and is named in parameters as fallback.
/// (Several distributions with q-masses below about 1e-12 can cause one, in the first round of STr⁺ too.)
Result<std::unique_ptr<TransportPlan>> build_str_plus_plus(const DraftDistributions& p, const Distribution& q,
                                                           const PlanOptions& options);

}  // namespace spectr
