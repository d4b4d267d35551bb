#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "lab/theory/markov_pair.h"

namespace spectr::lab {

/// A table of next-token distributions of a Markov chain: distribution(n, x) is that of token n + 1 if token
/// n is x.
using Distributions = std::function<std::span<const double>(std::size_t n, std::size_t x)>;

/// The likeliest continuations of a Markov chain, by dynamic programming:
///
///   best_i(n, x) = max_y [log distribution(n, x)(y) + best_{i−1}(n + 1, y)], best_0 = 0.
///
/// Cost: O(T V² length) to build.
class LikeliestBlocks {
 public:
  /// Computes blocks of at most `length` tokens that end by the horizon.
  LikeliestBlocks(const MarkovPair& pair, const Distributions& distributions, std::size_t length);

  /// Returns the log-likelihood of the likeliest i tokens after token n = x. Requires: n + i ≤ horizon.
  double log_likelihood(std::size_t i, std::size_t n, std::size_t x) const { return best_[i][at(n, x)]; }
  /// Returns that block; if there are several, the first of them.
  std::vector<std::size_t> block(std::size_t i, std::size_t n, std::size_t x) const;

 private:
  std::size_t at(std::size_t n, std::size_t x) const { return n * states_ + x; }

  std::size_t states_;
  std::vector<std::vector<double>> best_;        // by i, then by (n, x)
  std::vector<std::vector<std::size_t>> first_;  // the first token of that block
};

/// Exact greedy multi-token joint decoding (MTJD, arXiv 2407.09722, section 3.1): repeatedly commits the
/// likeliest block of γ tokens under the target. γ = 1 is greedy decoding. Block i takes γ_i tokens
/// (definition 3.1): `lengths`, cyclically. Returns −Σ_{j≤n} log q(x_j | x_{j−1}) for n = 1 … T, after token
/// 0 = start. Requires: at least one length, all ≥ 1.
std::vector<double> joint_decoding_cost(const MarkovPair& pair, std::size_t start,
                                        std::span<const std::size_t> lengths);
inline std::vector<double> joint_decoding_cost(const MarkovPair& pair, std::size_t start,
                                               std::size_t length) {
  return joint_decoding_cost(pair, start, std::span(&length, 1));
}

/// Random block lengths: every block takes γ tokens with probability lengths[γ − 1], independently, and the
/// last one the remainder. Returns −E log q(text). Requires: probabilities of lengths 1, 2, ….
double random_joint_decoding_cost(const MarkovPair& pair, std::size_t start, std::span<const double> lengths);

/// Returns −E max log q of γ tokens after token n of the target's own sequence, by [γ − 1][n], n + γ ≤ T.
/// This is L(γ) of equation 3 of MTAD's Theorem 3.2, ln PPL → −E L(γ)/E γ, for contexts of the target.
///
/// With MTJD's own contexts the equation is an identity, because the likelihoods of the blocks add up.
/// Corollary 3.3 compares values of γ under one distribution of contexts, the same for all; but each γ visits
/// its own contexts, so it can fail (LuringChain). The following holds for every γ: after any one context the
/// likeliest γ tokens are at least as likely as γ tokens of greedy decoding.
std::vector<std::vector<double>> joint_costs_along_target(const MarkovPair& pair, std::size_t start,
                                                          std::size_t max_length);

}  // namespace spectr::lab
