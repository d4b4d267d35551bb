#pragma once

#include <memory>

#include "spectr/transport/plans.h"

namespace spectr {

/// Most tuples of draft tokens that its linear program takes.
inline constexpr double max_tuples = 20'000;

/// The optimum by definition, for tiny alphabets: maximise Σ π(x₁ … x_k, y) over y ∈ {x₁ … x_k} with row sums
/// at most Π p_i(x_i) and column sums at most q(y) (SpecTr, arXiv 2310.15141, the transport problem OTM_k).
/// Tuple x is accepted as y with probability π(x, y)/Πp_i(x_i), rejected with the slack of its row, and then
/// Y is drawn in proportion to the slacks of the columns. What y may be depends on the set of x alone, so the
/// tuples of one set share a row. Equal and different draft distributions.
///
/// An error beyond `max_tuples`, and where the solver fails. Cost: one simplex solution of at most 20,000
/// rows.
Result<std::unique_ptr<TransportPlan>> build_tuple_lp(const DraftDistributions& p, const Distribution& q,
                                                      const PlanOptions& options);

/// The same of drafts drawn without replacement (the paper's footnote 7): a tuple of different tokens has the
/// probability Π p(x_i)/(1 − p(x₁) − … − p(x_{i−1})). The plan draws min(k, |supp p|) drafts of one
/// distribution.
Result<std::unique_ptr<TransportPlan>> build_tuple_lp_without_replacement(const DraftDistributions& p,
                                                                          const Distribution& q,
                                                                          const PlanOptions& options);

}  // namespace spectr
