#pragma once

#include <memory>

#include "spectr/transport/plans.h"

namespace spectr {

/// Maximum number of draft tuples that the linear program supports.
inline constexpr double max_tuples = 20'000;

/// The optimum by definition, for tiny alphabets: maximise Σ π(x₁ … x_k, y) over y ∈ {x₁ … x_k} with row sums
/// at most Π p_i(x_i) and column sums at most q(y) (SpecTr, arXiv 2310.15141, the transport problem OTM_k).
/// Tuple x is accepted as y with probability π(x, y)/Πp_i(x_i) and rejected with the slack of its row; then Y
/// is drawn in proportion to the slacks of the columns. The possible y depend only on the set of x, so the
/// tuples of one set share a row. Supports equal and different draft distributions.
///
/// Fails for more than `max_tuples` tuples, and if the solver fails. Cost: one simplex solution with at most
/// 20,000 rows.
Result<std::unique_ptr<TransportPlan>> build_tuple_lp(const DraftDistributions& p, const Distribution& q,
                                                      const PlanOptions& options);

/// The optimum for drafts drawn without replacement (the paper's footnote 7): a tuple of different tokens has
/// the probability Π p(x_i)/(1 − p(x₁) − … − p(x_{i−1})). The plan draws min(k, |supp p|) drafts of one
/// distribution.
Result<std::unique_ptr<TransportPlan>> build_tuple_lp_without_replacement(const DraftDistributions& p,
                                                                          const Distribution& q,
                                                                          const PlanOptions& options);

}  // namespace spectr
