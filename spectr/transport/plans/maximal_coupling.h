#pragma once

#include <memory>

#include "spectr/base/result.h"
#include "spectr/transport/plan.h"
#include "spectr/transport/plans.h"

namespace spectr {

/// The maximal coupling of one draft with q, which is speculative decoding (Leviathan et al., arXiv
/// 2211.17192; Chen et al., arXiv 2302.01318):
///
///   accept X with probability min(1, q(X)/p(X)), otherwise Y ~ (q − p)₊ normalised.
///
/// Theorem. Y ~ q; acceptance Σ min(p, q) = 1 − TV(p, q), and no coupling has P(X = Y) above that.
///
/// Tests the first of k drafts and ignores the others. Fails for different draft distributions. Memory and
/// time O(support).
Result<std::unique_ptr<TransportPlan>> build_maximal(const DraftDistributions& p, const Distribution& q,
                                                     const PlanOptions& options);

}  // namespace spectr
