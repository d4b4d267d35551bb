#pragma once

#include <memory>

#include "spectr/base/result.h"
#include "spectr/transport/plan.h"
#include "spectr/transport/plans.h"

namespace spectr {

/// Recursive rejection (SpecInfer, arXiv 2305.09781; the root step of batch speculative decoding, Yin et al.
/// 2024, Algorithm 4), for equal or different draft distributions:
///
///   q¹ = q; accept X_m with probability min(1, q^m(X_m)/p_m(X_m)), otherwise q^{m+1} ∝ (q^m − p_m)₊;
///   after k rejections Y ~ q^{k+1}.
///
/// Theorem. Y ~ q; acceptance = 1 − Π_m TV(q^m, p_m), the product ending at its first 0.
///
/// Lemma. With D_m = Π_{j≤m} TV(q^j, p_j), D₀ = 1: q^{m+1} = (q − Σ_{j≤m} D_{j−1} p_j)₊ / D_m, because a
/// token whose mass is used up stays used up. The tests therefore need only the numbers D_m.
///
/// parameters: rejected = [D_1 … D_k]. Cost: k passes to build; for equal distributions one pass, and k over
/// the tokens with p < q < k p, whose number falls quickly. Memory O(support); O(k²) to select.
Result<std::unique_ptr<TransportPlan>> build_recursive(const DraftDistributions& p, const Distribution& q,
                                                       const PlanOptions& options);

}  // namespace spectr
