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

/// What α* comes to as k grows, and never exceeds: Σ_{p>0} q, 1 where p has the support of q (SpecTr, Lemma
/// 1).
double acceptance_in_the_limit(const Distribution& p, const Distribution& q);

/// An upper bound by tuples, the kind that SpecTr's Lemma 3 has (its expression 9: a minimum over subsets Ω₀
/// with a sum over all tuples of drafts; whether term by term this one is not known here),
///
///   min over Ω₀ of [Σ_{y ∈ Ω₀} min(q(y), 1 − (1−p(y))^k) + Σ_{x₁…x_k} min(Πp(x_i), q({x₁…x_k} ∖ Ω₀))],
///
/// for independent drafts of any distributions: y ∈ Ω₀ is accepted with at most the probability that it was
/// drafted, and a tuple as something else with at most its own. It equals α*, as the paper's does: Ω₀ = S of
/// α* makes it no more.
/// For reference: 2^V subsets of V^k tuples each. Requires: V ≤ 12.
double tuple_bound(const DraftDistributions& p, const Distribution& q);

/// 1 − (1 − 1/k)^k ≥ 1 − 1/e: the share of α* that k-Seq reaches at least (SpecTr, Theorem 1). k ≥ 1.
double guaranteed_share(std::size_t k);

/// The share that it reaches at least of this α*, c_k(p, q) = (1 − (1−β)^k)/(kβ) with β = Σ min(p, q/k), in
/// [guaranteed_share(k), 1]: for acceptance ≥ 1 − (1−β)^k = c_k kβ, and kβ ≥ α*; 1 for disjoint supports,
/// where nothing is accepted. SpecTr's appendix C.1 has a c_k(p, q) of the same range and use, whose formula
/// is not known here. k ≥ 1.
double guaranteed_share(const Distribution& p, const Distribution& q, std::size_t k);

/// The optimum of k i.i.d. drafts from Ber(p) for Ber(q): min(q, 1 − (1−p)^k) + min(1 − q, 1 − p^k) (SpecTr,
/// equation 10).
double bernoulli_acceptance(double p, double q, std::size_t k);

/// The optimum of k i.i.d. drafts for p uniform on d tokens and q uniform on d/r of them: 1 − (1 − 1/r)^k.
/// k-seq with its smallest division factor ρ* = r (1 − (1 − 1/r)^k), recursive, str+ and str++ reach it.
/// r ≥ 1.
double uniform_acceptance(double r, std::size_t k);

/// The same without replacement, q uniform on n of the d tokens: 1 − C(d−n, k)/C(d, k). n, k ≤ d.
double uniform_acceptance_without_replacement(std::size_t d, std::size_t n, std::size_t k);

}  // namespace spectr
