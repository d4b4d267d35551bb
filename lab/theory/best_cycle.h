#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace spectr::lab {

/// The likeliest cycle of a time-homogeneous Markov chain, which bounds the likelihood of every sequence.
struct BestCycle {
  double mean;  ///< λ ≤ 0: the largest mean of log q over the steps of a cycle
  std::vector<double>
      cost;  ///< by state x: D(x), the smallest −log q of a path from x to z; ∞ if there is none
  std::size_t turning_point;  ///< z, a state of that cycle

  /// Returns D = max D(x) over the states that can be reached from the start.
  double return_cost() const;
  std::vector<bool> reachable;  ///< by state, from the start
};

/// Returns the best cycle among those that can be reached from `start`, for q with shape [states, states],
/// where row x is the distribution of the token after x (Karp's theorem). Cost: O(states³).
///
/// Theorem (a true statement close to Corollary 3.3 of MTAD, arXiv 2407.09722). Let b_γ(x) be the largest log
/// q of γ tokens after x.
///
/// 1. Every sequence of N tokens after the start has log q ≤ λ (N − r) for some r ≤ min(N, states − 1). Hence
///    every decoder, including greedy decoding, has ln PPL ≥ −λ (1 − (states − 1)/N).
/// 2. b_γ(x) ≥ λγ − D(x) for every γ. Hence exact greedy MTJD with blocks of γ tokens, whose blocks begin at
///    states with D(x) ≤ D, has ln PPL ≤ −λ + D/γ for N a multiple of γ.
///
/// Hence lim sup ln PPL(MTJD) ≤ lim inf ln PPL(any decoder) + D/γ as N → ∞.
///
/// Proof. 1. A sequence is a walk; removing its cycles one after another leaves a path without repeated
/// states, of r ≤ states − 1 steps. The cycles have log q ≤ λ per step, the path has log q ≤ 0. 2. Let w be
/// log q of the steps of the best cycle. The sums of w − λ along it return to 0 after each round; z is the
/// state where they are smallest, so from z on all partial sums are ≥ 0: j steps from z have log q ≥ λj. Go
/// from x to z by the path of cost D(x), of r steps, then around the cycle: if γ ≥ r the γ tokens have log
/// q ≥ −D(x) + λ(γ − r) ≥ λγ − D(x), and if γ < r already the first γ steps of the path have log q ≥ −D(x).
/// The likelihoods of MTJD's blocks add up: log q of N = mγ tokens is Σ b_γ(x_i) ≥ λN − mD. ∎
BestCycle best_cycle(std::span<const double> q, std::size_t states, std::size_t start);

}  // namespace spectr::lab
