#pragma once

#include <cstddef>
#include <memory>

#include "spectr/base/result.h"
#include "spectr/transport/plan.h"
#include "spectr/transport/plans.h"

namespace spectr {

/// Recursive rejection of drafts drawn without replacement (as siblings in SpecInfer, arXiv 2305.09781):
///
///   X_m ~ p_m, which is p on the tokens not drawn before, renormalised; q¹ = q;
///   accept X_m with probability min(1, q^m(X_m)/p_m(X_m)), otherwise q^{m+1} ∝ (q^m − p_m)₊;
///   after the last rejection Y ~ q^{m+1}.
///
/// Theorem. Y ~ q. (It holds only for this drafting distribution: i.i.d. drafts must not be tested in this
/// way.)
///
/// Lemma. q^{m+1} = (q − C_m p)₊ / D_m, C_m = C_{m−1} + D_{m−1}/P_m, C₀ = 0, D_m = Σ (q − C_m p)₊, where P_m
/// is the mass under p of the tokens untried at draft m; a rejected token has q < C_m p and stays at 0. So
/// the state of the recursion is a few numbers, and select() allocates no memory. C_m overflows if P_m is
/// subnormal, so the state is c_m = C_m P_m = c_{m−1} P_m/P_{m−1} + D_{m−1} ≤ m.
///
/// The plan draws min(k, |supp p|) drafts, see drafts(). The residual distribution depends on the drafts.
/// acceptance() is computed by rejected_without_replacement(), and NaN beyond its limit. Fails for different
/// draft distributions. Cost: O(support) to build and per draft drawn, O(support + m²) to test the m-th.
Result<std::unique_ptr<TransportPlan>> build_recursive_wor(const DraftDistributions& p, const Distribution& q,
                                                           const PlanOptions& options);

}  // namespace spectr
