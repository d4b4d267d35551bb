#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "spectr/transport/distribution.h"
#include "spectr/transport/plan.h"

namespace spectr {

/// Returns the largest acceptance of any valid plan for k i.i.d. drafts from p,
///
///   α* = 1 + min over S of [q(S) − p(S)^k]
///
/// (SpecTr, arXiv 2310.15141, Lemma 3, attained). Only prefixes of the tokens sorted by q/p ascending need to
/// be considered. Requires: k ≥ 1. Cost: O(V log V).
double optimal_acceptance(const Distribution& p, const Distribution& q, std::size_t k);

/// Returns the optimum for any drafting distribution D, α* = 1 + min_S [q(S) − P_D(all drafts in S)], over
/// all subsets S of the tokens. all_inside(S) = P_D(all drafts in S); bit x of S is token x. A reference
/// implementation with 2^V subsets. Requires: V ≤ 20.
double optimal_acceptance_by_subsets(const Distribution& q,
                                     const std::function<double(std::uint32_t)>& all_inside);

/// Returns the optimum for independent drafts from p₁ … p_k, over all subsets. Requires: V ≤ 20.
double optimal_acceptance_by_subsets(const DraftDistributions& p, const Distribution& q);

/// Returns the limit of α* for k → ∞, which is also an upper bound: Σ_{p>0} q, which is 1 if p reaches the
/// support of q (SpecTr, Lemma 1).
double acceptance_in_the_limit(const Distribution& p, const Distribution& q);

/// Returns the bound of SpecTr's Lemma 3, expression 9, for independent drafts from any distributions:
///
///   ᾱ = min over Ω₀ of [Σ_{y ∈ Ω₀} min(q(y), 1 − Π(1−p_i(y))) + Σ_{x₁…x_k} min(Πp_i(x_i), q({x₁…x_k} ∖
///   Ω₀))].
///
/// Theorem. ᾱ = α*: the bound is attained for every pair of distributions and every k. (The paper proves α* ≤
/// ᾱ, and ᾱ up to the factor 1 − (1−1/k)^k.)
///
/// Proof. Under any valid plan, y ∈ Ω₀ is accepted with probability at most q(y) and at most that of being
/// drafted. A tuple is accepted as one of its tokens outside Ω₀ with at most its own probability and at most
/// the q-mass of these tokens. Hence α* ≤ ᾱ. Conversely, take Ω₀ = S of α* = 1 + q(S) − P(all drafts in S).
/// The first sum is at most q(S). A tuple within S adds 0 to the second one, as {x₁…x_k} ∖ S is empty; any
/// other adds at most its probability: together at most 1 − P(all drafts in S). ∎
///
/// The proof does not depend on the drafting distribution, so it also holds for drafts without replacement. A
/// reference implementation: 2^V subsets of V^k tuples each. Requires: V ≤ 12.
double tuple_bound(const DraftDistributions& p, const Distribution& q);

/// Returns Σ_y min(q(y), 1 − Π(1−p_i(y))): the expression above at Ω₀ = Ω, where y is accepted at most as
/// often as it is drafted. For k i.i.d. drafts it is the middle term of SpecTr's chain (11):
///
///   α* = ᾱ ≤ Σ min(q, 1 − (1−p)^k) ≤ Σ min(q, kp) = kβ(k).
///
/// The first inequality is strict in general, and an equality for V = 2 (equation 10). Cost: O(k V).
double drafted_bound(const DraftDistributions& p, const Distribution& q);

/// Returns 1 − (1 − 1/k)^k ≥ 1 − 1/e: a lower bound of k-Seq's share of α* (SpecTr, Theorem 1). k ≥ 1.
double guaranteed_share(std::size_t k);

/// Returns a lower bound of k-Seq's share of this α*: SpecTr's c_k(p, q) = (1 − (1−β)^k)/(kβ) with
/// β = Σ min(p, q/k) (appendix C.1), in [guaranteed_share(k), 1]: acceptance ≥ 1 − (1−β)^k = c_k kβ, and kβ ≥
/// α*. It is 1 for disjoint supports, where no draft is accepted. k ≥ 1.
double guaranteed_share(const Distribution& p, const Distribution& q, std::size_t k);

/// Returns the optimum for k i.i.d. drafts from Ber(p) and target Ber(q): min(q, 1 − (1−p)^k) + min(1 − q, 1
/// − p^k) (SpecTr, equation 10).
double bernoulli_acceptance(double p, double q, std::size_t k);

/// Returns the optimum for k i.i.d. drafts if p is uniform on d tokens and q on d/r of them: 1 − (1 − 1/r)^k.
/// It is attained by recursive, str+, str++, and k-seq with its smallest division factor ρ* = r (1 − (1 −
/// 1/r)^k). r ≥ 1.
double uniform_acceptance(double r, std::size_t k);

/// Returns the optimum without replacement if q is uniform on n of d tokens: 1 − C(d−n, k)/C(d, k). n, k ≤ d.
double uniform_acceptance_without_replacement(std::size_t d, std::size_t n, std::size_t k);

}  // namespace spectr
