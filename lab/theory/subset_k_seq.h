#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/transport/distribution.h"

namespace spectr::lab {

/// The least probability of rejecting all drafts from p that generalised k-Seq reaches with given sets
/// Ω_1 … Ω_k (SpecTr++, Ahn, Beirami, Sun, Suresh, 2023: LP_k), bit x of a set standing for token x; 1 where
/// no factors are valid for these sets. Error: the solver failed. Requires: dense distributions, V ≤ 20
/// tokens, q > 0.
Result<double> min_rejection(const Distribution& p, const Distribution& q,
                             std::span<const std::uint32_t> sets);

/// The least over all sequences Ω_1 ⊇ … ⊇ Ω_k of upper sets of p/q (prefixes of the order by q/p). Other
/// subsets can be better, by little: for p = (.414, .363, .223), q = (.478, .134, .388) and k = 2 Ω = ({1},
/// {0}) is. Cost: (V + k over k) linear programs, ended early where `optimum`, below which nothing is
/// possible, has been reached.
Result<double> min_rejection_of_prefixes(const Distribution& p, const Distribution& q, std::size_t k,
                                         double optimum);

/// The least over all 2^{Vk} sequences of subsets: the reference for the function above.
Result<double> min_rejection_of_subsets(const Distribution& p, const Distribution& q, std::size_t k);

}  // namespace spectr::lab
