#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "spectr/transport/distribution.h"
#include "spectr/transport/plan.h"

namespace spectr {

/// The largest acceptance of any valid plan for k i.i.d. drafts from p,
///
///   α* = 1 + min over S of [q(S) − p(S)^k]
///
/// (SpecTr, arXiv 2310.15141, Lemma 3, attained), where only prefixes of the tokens sorted by q/p ascending
/// need a look. k ≥ 1. Cost: O(V log V).
double optimal_acceptance(const Distribution& p, const Distribution& q, std::size_t k);

/// The same for any drafting distribution D, α* = 1 + min_S [q(S) − P_D(all drafts in S)], over every subset
/// S of the tokens: all_inside(S) = P_D(all drafts in S), bit x of S standing for token x. For reference: 2^V
/// subsets. Requires: V ≤ 20.
double optimal_acceptance_by_subsets(const Distribution& q,
                                     const std::function<double(std::uint32_t)>& all_inside);

/// For independent drafts from the distributions p₁ … p_k, over every subset. Requires: V ≤ 20.
double optimal_acceptance_by_subsets(const DraftDistributions& p, const Distribution& q);

/// 1 − (1 − 1/k)^k ≥ 1 − 1/e: the share of α* that k-Seq reaches at least (SpecTr, Theorem 1). k ≥ 1.
double guaranteed_share(std::size_t k);

/// The optimum of k i.i.d. drafts for p uniform on d tokens and q uniform on d/r of them: 1 − (1 − 1/r)^k.
/// k-seq with its smallest division factor, recursive, str+ and str++ reach it. r ≥ 1.
double uniform_acceptance(double r, std::size_t k);

/// The same without replacement, q uniform on n of the d tokens: 1 − C(d−n, k)/C(d, k). n, k ≤ d.
double uniform_acceptance_without_replacement(std::size_t d, std::size_t n, std::size_t k);

}  // namespace spectr
