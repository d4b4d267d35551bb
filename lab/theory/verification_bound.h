#pragma once

#include <cstddef>

#include "spectr/base/result.h"
#include "spectr/lm/prefix_table_model.h"

namespace spectr::lab {

/// The largest expected number of tokens of a block that any lossless verification of K i.i.d. sequences of L
/// tokens from p can have, if after each block the text alone decides how decoding goes on.
///
/// Let f(x) be the probability that a block accepts at least the drafted prefix x. A verification is lossless
/// iff f(∅) = 1 and f(xy) ≤ f(x) q(y|x) for all x, y: the correction after x then has mass f(x) q(y|x) −
/// f(xy). K i.i.d. sequences can realise f iff Σ_{x ∈ A} f(x) ≤ 1 − (1 − p(A))^K for every antichain A of
/// prefixes, p(A) being the probability that one sequence passes through A (Hall's condition). The bound is 1
/// + max Σ f, a linear program, solved by adding the antichains that an optimum violates until there are
/// none.
///
/// Error: the tree of prefixes has more than 63 nodes or 200,000 antichains, or the solver fails.
Result<double> verification_bound(const PrefixTableModel& p, const PrefixTableModel& q, std::size_t drafts,
                                  std::size_t length);

}  // namespace spectr::lab
