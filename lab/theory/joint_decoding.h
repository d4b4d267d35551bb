#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "lab/theory/markov_pair.h"

namespace spectr::lab {

/// A table of next-token distributions of a Markov chain: distribution(n, x) is the distribution of token n +
/// 1 after token n = x.
using Distributions = std::function<std::span<const double>(std::size_t n, std::size_t x)>;

/// The likeliest continuations of a Markov chain, by dynamic programming:
///
///   best_i(n, x) = max_y [log distribution(n, x)(y) + best_{i−1}(n + 1, y)], best_0 = 0.
///
/// Cost: O(T V² length) to build.
class LikeliestBlocks {
 public:
  /// Blocks of at most `length` tokens, that end at the horizon.
  LikeliestBlocks(const MarkovPair& pair, const Distributions& distributions, std::size_t length);

  /// The log-likelihood of the likeliest block of i tokens after token n = x. Requires: n + i ≤ horizon.
  double log_likelihood(std::size_t i, std::size_t n, std::size_t x) const { return best_[i][at(n, x)]; }
  /// That block, the first of them where there are several.
  std::vector<std::size_t> block(std::size_t i, std::size_t n, std::size_t x) const;

 private:
  std::size_t at(std::size_t n, std::size_t x) const { return n * states_ + x; }

  std::size_t states_;
  std::vector<std::vector<double>> best_;        // by i, then by (n, x)
  std::vector<std::vector<std::size_t>> first_;  // the first token of that block
};

/// Exact greedy multi-token joint decoding (MTJD, arXiv 2407.09722, section 3.1): commits the likeliest block
/// of γ tokens under the target, again and again. γ = 1 is greedy decoding. Block i takes γ_i
/// (definition 3.1): `lengths` in turn. Returns −Σ_{j≤n} log q(x_j | x_{j−1}) for n = 1 … T, after token 0 =
/// start. Requires: lengths ≥ 1, at least one.
std::vector<double> joint_decoding_cost(const MarkovPair& pair, std::size_t start,
                                        std::span<const std::size_t> lengths);
inline std::vector<double> joint_decoding_cost(const MarkovPair& pair, std::size_t start,
                                               std::size_t length) {
  return joint_decoding_cost(pair, start, std::span(&length, 1));
}

/// The same with random lengths: every block takes γ tokens with probability lengths[γ − 1], independently
/// (the last one what is left). Returns −E log q(text). Requires: probabilities of lengths 1, 2, ….
double random_joint_decoding_cost(const MarkovPair& pair, std::size_t start, std::span<const double> lengths);

/// −E max log q of γ tokens after token n of the target's own text, by [γ − 1][n], n + γ ≤ T: what equation 3
/// of MTAD's Theorem 3.2, ln PPL → −E L(γ)/E γ, has for L(γ) where contexts are the target's.
///
/// With the contexts of MTJD itself the equation is an identity, because the likelihoods of the blocks add
/// up. Corollary 3.3 compares values of γ under one distribution of contexts, the same for all; each γ visits
/// its own, and so it can fail (LuringChain). What holds for every γ: after any one context the likeliest γ
/// tokens are at least as likely as γ tokens of greedy decoding.
std::vector<std::vector<double>> joint_costs_along_target(const MarkovPair& pair, std::size_t start,
                                                          std::size_t max_length);

}  // namespace spectr::lab
