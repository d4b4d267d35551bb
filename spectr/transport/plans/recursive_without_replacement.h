#pragma once

#include <cstddef>
#include <memory>

#include "spectr/base/result.h"
#include "spectr/transport/plan.h"
#include "spectr/transport/plans.h"

namespace spectr {

/// Recursive rejection of drafts drawn without replacement (as SpecInfer, arXiv 2305.09781, draws siblings):
///
///   X_m ~ p_m, which is p on the tokens not drawn before, renormalised; q¹ = q;
///   accept X_m with probability min(1, q^m(X_m)/p_m(X_m)), otherwise q^{m+1} ∝ (q^m − p_m)₊;
///   after the last rejection Y ~ q^{m+1}.
///
/// Theorem. Y ~ q. (Valid only under this drafting distribution: i.i.d. drafts must not be tested in this
/// way.)
///
/// Lemma. q^{m+1} = (q − C_m p)₊ / D_m, C_m = C_{m−1} + D_{m−1}/P_m, C₀ = 0, D_m = Σ (q − C_m p)₊, P_m = the
/// mass under p of the tokens untried at draft m; a rejected token has q < C_m p and stays at 0. So the state
/// of the recursion is a few numbers, and select() needs no memory. C_m overflows where P_m is subnormal; so
/// it is kept as c_m = C_m P_m = c_{m−1} P_m/P_{m−1} + D_{m−1} ≤ m.
///
/// The plan draws min(k, |supp p|) drafts; drafts() says how many. The residual distribution depends on the
/// drafts. acceptance(): see rejected_without_replacement; NaN beyond its bound. An error for different draft
/// distributions. Cost: O(support) to build and per draft drawn, O(support + m²) to test the m-th.
Result<std::unique_ptr<TransportPlan>> build_recursive_wor(const DraftDistributions& p, const Distribution& q,
                                                           const PlanOptions& options);

}  // namespace spectr
