#pragma once

#include <memory>

#include "spectr/base/result.h"
#include "spectr/transport/plan.h"
#include "spectr/transport/plans.h"

namespace spectr {

/// k-Seq (SpecTr, arXiv 2310.15141, Algorithm 2) with a valid division factor ρ:
///
///   accept the first X_i that passes a test of probability min(1, q(X_i) / (ρ p(X_i))),
///   otherwise Y ~ (q − a)₊ normalised, a = min(p, q/ρ) · p_acc/β the accepted distribution,
///   p_acc = 1 − (1−β)^k, β = Σ min(p, q/ρ).
///
/// Theorem. The plan is valid, Y ~ q, for every ρ with ρ β(ρ) ≥ p_acc; p_acc is largest at the smallest such
/// ρ, ρ*, and there p_acc ≥ (1 − (1−1/k)^k) · optimum.
///
/// Theorem. For equal draft distributions k-Seq accepts at least as much as recursive rejection
/// (recursive_rejection.h).
///
/// With different draft distributions, draft i is tested against its own p_i, and a = Σ_i R_i min(p_i, q/ρ)
/// with R_i = Π_{j<i} (1 − β_j) (Ahn et al. 2023, appendix B).
///
/// The residual is computed from the distribution that is actually accepted, so a ρ above ρ* costs acceptance
/// but never exactness. parameters: rho, beta (one per draft distribution), passes. Memory O(support).
Result<std::unique_ptr<TransportPlan>> build_k_seq(const DraftDistributions& p, const Distribution& q,
                                                   const PlanOptions& options);

}  // namespace spectr
