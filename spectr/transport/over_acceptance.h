#pragma once

#include <memory>

#include "spectr/base/result.h"
#include "spectr/transport/plan.h"
#include "spectr/transport/plans.h"

namespace spectr {

/// Over-acceptance with a measured bias (Yin et al., A Theoretical Perspective for Speculative Decoding,
/// 2024, section 4), for one draft and ε ≥ 0:
///
///   accept X with probability b(X) = min(1, (q(X) + ε)/p(X)); P(reject) = Σ (p − q − ε)₊;
///   on rejection draw Y ∝ (q − p)₊  (epsilon-opt)  or  Y ~ q  (epsilon-uno).
///
/// Theorem. No choice of Y after a rejection has a distribution closer to q than
/// Loss*(b) = ½ Σ |q − b p| − ½ Σ (1 − b) p in total variation; epsilon-opt attains it, and
/// P(reject) + Loss* = TV(p, q).
///
/// ε = 0 makes epsilon-opt the maximal coupling. epsilon-uno is the biased baseline, also at ε = 0.
/// parameters: epsilon, bias (TV of the distribution of Y from q), least_bias (Loss*), rejection (P(reject)).
/// Errors: k > 1, ε negative or not finite. Memory and time O(support).
Result<std::unique_ptr<TransportPlan>> build_epsilon_opt(const DraftDistributions& p, const Distribution& q,
                                                         const PlanOptions& options);
Result<std::unique_ptr<TransportPlan>> build_epsilon_uno(const DraftDistributions& p, const Distribution& q,
                                                         const PlanOptions& options);

}  // namespace spectr
