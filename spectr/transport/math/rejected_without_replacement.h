#pragma once

#include <cstddef>
#include <optional>

#include "spectr/transport/math/distribution_pair.h"

namespace spectr {

/// Returns the probability that all k drafts of recursive rejection without replacement are rejected, by
/// recursion over the rejected sequences. There is no product formula: C_m depends on the sequence, so the
/// cost grows like G^k, where G is the number of different pairs (p(x), q(x)) with p > 0. Returns nullopt
/// above 2·10⁸ terms (for a support of 40 tokens: k = 5). Requires: 1 ≤ k ≤ |supp p|.
std::optional<double> rejected_without_replacement(const DistributionPair& distributions, std::size_t k);

}  // namespace spectr
