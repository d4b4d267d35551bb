#pragma once

#include <cstddef>
#include <vector>

#include "lab/theory/markov_pair.h"

namespace spectr::lab {

/// Theorem 1 (Yin et al., A Theoretical Perspective for Speculative Decoding, 2024). With drafts up to the
/// horizon T, speculative decoding rejects
///
///   E[rejections] = Σ_n E_{x ~ q} [TV(p_n, q_n)(· | x_{n−1})]
///
/// times, and no exact algorithm whose test of token n sees only x_1 … x_n rejects less often. Returns the
/// terms: [n] = P(token n + 1 is a rejection). Cost: O(T V²).
std::vector<double> expected_rejections(const MarkovPair& pair);

/// Batch speculative decoding with M sequences (the same paper, algorithm 4 and theorem 3). μ_n is the
/// distribution of x_n under q, F_n(y) the probability of "x_n = y was a rejection: a new tree starts there",
/// F₀ = μ₀. With h(y|x) = (q − p)₊ and the recursion q¹ = q, r_m = TV(q^m, p), q^{m+1} = (q^m − p)₊/r_m of
/// recursive rejection,
///
///   F_n(y) = Σ_x (μ_{n−1} − F_{n−1})(x) h(y|x) + Σ_x F_{n−1}(x) Π_{m≤M} r_m(x) q^{M+1}(y|x),
///   P(rejection at n) = Σ_y F_n(y).
///
/// Returns the terms, like expected_rejections(). Requires: M ≥ 1. Cost: O(T V² M).
std::vector<double> expected_batch_rejections(const MarkovPair& pair, std::size_t sequences);

/// Returns the masses F_{n+1}(y) by [n][y]. They are part of the target's, F_n ≤ μ_n (proposition 1).
std::vector<std::vector<double>> batch_rejection_masses(const MarkovPair& pair, std::size_t sequences);

/// Returns the limit M → ∞: Π r_m → 0, so only tests after the first token of a tree reject,
/// F_n(y) = Σ_x (μ_{n−1} − F_{n−1})(x) h(y|x). It is zero for T = 1 or p = q, and positive in general: more
/// sequences cannot help after the first token. Requires: supp q ⊆ supp p.
std::vector<double> expected_batch_rejections_in_the_limit(const MarkovPair& pair);

/// Returns E[target calls] = 1 + Σ_{n<T} P(rejection at n): each rejection before the last token adds a call.
/// (The paper's T/E[rejections] and T/(1 + E[rejections]) are approximations.)
double expected_calls(const std::vector<double>& rejections);

/// Returns the sum of the terms.
double total(const std::vector<double>& rejections);

// Reduction of the rejections of one token by M drafts instead of one, with recursive rejection (Yin et al.,
// A Theoretical Perspective for Speculative Decoding, 2024, section 3): TV(p, q) − Π_{m≤M} TV(q^m, p). M ≥ 1.

/// p uniform on d tokens, q on d/r of them: every q^m is q again, so (1 − 1/r) − (1 − 1/r)^M. r ≥ 1.
double uniform_batch_improvement(double r, std::size_t sequences);

/// p = Ber(u), q = Ber(v). After the first rejection all mass of q² is on one token, of p-probability u or
/// 1 − u, which every further draft must miss: |u − v| (1 − u^{M−1}) for u > v, |u − v| (1 − (1−u)^{M−1}) for
/// u < v.
double bernoulli_batch_improvement(double u, double v, std::size_t sequences);

}  // namespace spectr::lab
