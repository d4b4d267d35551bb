#pragma once

#include <cstddef>

#include "spectr/base/result.h"
#include "spectr/lm/prefix_table_model.h"

namespace spectr::lab {

/// Returns the largest expected number of tokens per block of any lossless verification of K i.i.d. sequences
/// of L tokens from p, if decoding after each block depends only on the sequence so far.
///
/// Let f(x) be the probability that a block accepts at least the drafted prefix x. A verification is lossless
/// iff f(∅) = 1 and f(xy) ≤ f(x) q(y|x) for all x, y: the correction after x then has mass
/// f(x) q(y|x) − f(xy). K i.i.d. sequences can realise f iff Σ_{x ∈ A} f(x) ≤ 1 − (1 − p(A))^K for every
/// antichain A of prefixes, where p(A) is the probability that one sequence passes through A (Hall's
/// condition). The bound is 1 + max Σ f, a linear program, solved by adding the antichains that an optimum
/// violates until none is violated.
///
/// Fails if the tree of prefixes has more than 63 nodes or 200,000 antichains, or if the solver fails.
Result<double> verification_bound(const PrefixTableModel& p, const PrefixTableModel& q, std::size_t drafts,
                                  std::size_t length);

}  // namespace spectr::lab
