#pragma once

#include <memory>

#include "spectr/base/result.h"
#include "spectr/transport/plan.h"
#include "spectr/transport/plans.h"

namespace spectr {

/// Over-acceptance with a measured bias (Yin et al., A Theoretical Perspective for Speculative Decoding,
/// 2024, section 4), for one draft and any ε:
///
///   accept X with probability b(X) = min(1, (q(X) + ε)₊/p(X)); P(reject) = Σ (p − (q + ε)₊)₊;
///   on rejection draw Y ∝ (q − b p)₊, which is (q − p)₊ for ε ≥ 0  (epsilon-opt)  or  Y ~ q  (epsilon-uno).
///
/// Theorem. No choice of Y after a rejection has a distribution closer to q than
/// Loss*(b) = ½ Σ |q − b p| − ½ Σ (1 − b) p in total variation; epsilon-opt attains it. For ε ≥ 0
/// P(reject) + Loss* = TV(p, q). For ε ≤ 0, where b ≤ min(1, q/p), Loss* = 0 and P(reject) ≥ TV(p, q): no
/// unbiased rule rejects less (Theorem 2 and Corollary 1).
///
/// ε = 0 makes epsilon-opt the maximal coupling. epsilon-uno is the biased baseline, also at ε = 0.
/// parameters: epsilon, bias (TV of the distribution of Y from q), least_bias (Loss*), rejection (P(reject)).
/// Errors: k > 1, ε not finite. Memory and time O(support).
Result<std::unique_ptr<TransportPlan>> build_epsilon_opt(const DraftDistributions& p, const Distribution& q,
                                                         const PlanOptions& options);
Result<std::unique_ptr<TransportPlan>> build_epsilon_uno(const DraftDistributions& p, const Distribution& q,
                                                         const PlanOptions& options);

}  // namespace spectr
