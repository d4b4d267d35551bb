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

/// SpecTr's Lemma 3, expression 9, for independent drafts of any distributions:
///
///   ᾱ = min over Ω₀ of [Σ_{y ∈ Ω₀} min(q(y), 1 − Π(1−p_i(y))) + Σ_{x₁…x_k} min(Πp_i(x_i), q({x₁…x_k} ∖
///   Ω₀))].
///
/// Theorem. ᾱ = α*: the bound is attained for every pair of distributions and every k. (The paper proves α* ≤
/// ᾱ, and ᾱ up to the factor 1 − (1−1/k)^k.)
///
/// Proof. Under any valid plan y ∈ Ω₀ is accepted with at most q(y) and at most the probability that it was
/// drafted, and a tuple as one of its tokens outside Ω₀ with at most its own probability and at most the
/// q-mass of these tokens: α* ≤ ᾱ. For the other half take Ω₀ = S of α* = 1 + q(S) − P(all drafts in S). The
/// first sum is at most q(S). A tuple within S adds 0 to the second, as {x₁…x_k} ∖ S is empty, and any other
/// at most its probability: together at most 1 − P(all drafts in S). ∎
///
/// The proof uses nothing of the drafting distribution: it holds for drafts without replacement as well. For
/// reference: 2^V subsets of V^k tuples each. Requires: V ≤ 12.
double tuple_bound(const DraftDistributions& p, const Distribution& q);

/// Σ_y min(q(y), 1 − Π(1−p_i(y))): the expression above at Ω₀ = Ω, where y is accepted at most as often as it
/// is drafted. For k i.i.d. drafts it is the middle link of SpecTr's chain (11):
///
///   α* = ᾱ ≤ Σ min(q, 1 − (1−p)^k) ≤ Σ min(q, kp) = kβ(k).
///
/// The first inequality is strict in general, and an equality for V = 2 (equation 10). Cost: O(k V).
double drafted_bound(const DraftDistributions& p, const Distribution& q);

/// 1 − (1 − 1/k)^k ≥ 1 − 1/e: the share of α* that k-Seq reaches at least (SpecTr, Theorem 1). k ≥ 1.
double guaranteed_share(std::size_t k);

/// The share of this α* that it reaches at least, SpecTr's c_k(p, q) = (1 − (1−β)^k)/(kβ) with β = Σ min(p,
/// q/k) (appendix C.1), in [guaranteed_share(k), 1]: acceptance ≥ 1 − (1−β)^k = c_k kβ, and kβ ≥ α*. It is 1
/// for disjoint supports, where nothing is accepted. k ≥ 1.
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
