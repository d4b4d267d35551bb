#pragma once

#include <cstddef>
#include <vector>

#include "lab/theory/markov_pair.h"

namespace spectr::lab {

// Counterexamples to two statements of MTAD (arXiv 2407.09722). Both statements compare the perplexities of
// two decoders as if they continued the same contexts.

/// Corollary 3.3 (greedy MTJD has a lower perplexity than greedy decoding for long sequences) is false for
/// this chain of 13 states: A → A .6, A → B .4; B → C 1; C and D₁ … D₁₀ → each D .1. Greedy decoding stays in
/// A, with a perplexity of 1/.6. The likeliest two tokens after A are B, C (.4, against .36 of A, A), and C
/// has no way back: with γ = 2 the perplexity tends to 10.
class LuringChain {
 public:
  static constexpr std::size_t states = 13, start = 0;

  /// Mixes every row with weight `mixed` with the uniform distribution on all states.
  explicit LuringChain(double mixed);

  const std::vector<double>& rows() const { return rows_; }  ///< [states, states]
  MarkovPair pair(std::size_t horizon) const;                ///< p = q; every sequence starts in A

  /// Returns ln PPL of exact greedy MTJD from the start as N → ∞; the starting states of its blocks recur.
  double joint_limit(std::size_t block) const;

 private:
  std::vector<double> rows_;
};

/// Theorem 3.5 is false for this chain, even with its algebra corrected (log_loss_bound): p = q, so U = 0;
/// exact beams of L = 1 token, so ε = 0; γ̄ = 2 for every τ < 1. A → A has probability `stay`; otherwise one
/// of `bad` tokens follows, which are followed by each other uniformly. MTAD draws every second token from q
/// and leaves A eventually; MTJD with γ = 2 never does.
struct LeavingChain {
  double stay = 0.98;
  std::size_t bad = 1000;

  /// Exact expected values of a sequence of T tokens that starts in A. Requires: T is even.
  struct Costs {
    double assisted;        ///< ln PPL_q of MTAD
    double joint;           ///< ln PPL_q of MTJD, γ = 2
    double entropy;         ///< H(q), per token of the target's own sequences
    double own_entropy;     ///< mean H(q) of the target's own tokens in MTAD's sequence
    double joint_contexts;  ///< −Σ E max log q of two tokens after MTAD's contexts, per token
  };
  Costs costs(std::size_t tokens) const;

  MarkovPair pair(std::size_t horizon) const;  ///< state 0 is A, where every sequence starts
};

}  // namespace spectr::lab
