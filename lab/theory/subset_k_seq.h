#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/transport/distribution.h"

namespace spectr::lab {

/// Returns the smallest probability of rejecting all drafts from p with generalised k-Seq and the given sets
/// Ω_1 … Ω_k (SpecTr++, Ahn, Beirami, Sun, Suresh, 2023: LP_k), where bit x of a set is token x; 1 if no
/// factors are valid for these sets. Fails if the solver fails. Requires: dense distributions, V ≤ 20 tokens,
/// q > 0.
Result<double> min_rejection(const Distribution& p, const Distribution& q,
                             std::span<const std::uint32_t> sets);

/// Returns the minimum over all sequences Ω_1 ⊇ … ⊇ Ω_k of upper sets of p/q (prefixes of the order by q/p).
/// Other subsets can be slightly better, such as Ω = ({1}, {0}) for p = (.414, .363, .223),
/// q = (.478, .134, .388) and k = 2. Cost: (V + k over k) linear programs; stops early when it reaches
/// `optimum`, a lower bound.
Result<double> min_rejection_of_prefixes(const Distribution& p, const Distribution& q, std::size_t k,
                                         double optimum);

/// Returns the minimum over all 2^{Vk} sequences of subsets: the reference for the function above.
Result<double> min_rejection_of_subsets(const Distribution& p, const Distribution& q, std::size_t k);

}  // namespace spectr::lab
