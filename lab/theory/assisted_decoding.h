#pragma once

#include <cstddef>

#include "lab/theory/markov_pair.h"
#include "spectr/base/result.h"

namespace spectr::lab {

/// Multi-token assisted decoding (MTAD, arXiv 2407.09722) with the likeliest of W beams of L tokens.
struct AssistedOptions {
  double tau;
  std::size_t beams;   ///< W
  std::size_t length;  ///< L
};

/// Exact expected values over whole sequences of T tokens: blocks are enumerated from every state, and their
/// costs weighted with the probability of reaching it. Logarithms are natural; "per block" means Σ over
/// blocks / E[calls].
struct Assisted {
  double tokens_per_call;        ///< γ̄ = T / E[calls], including the target's own token of a block
  double tokens_per_full_block;  ///< γ̄ over the blocks with room for L + 1 tokens
  double accepted_per_call;      ///< accepted drafts per block
  double log_perplexity_q;       ///< −E log q(text) / T
  double log_perplexity_p;       ///< −E log p(text) / T
  double drafted_log_p;          ///< E log p of a block's whole draft, per block
  double likeliest_draft_log_p;  ///< E max log p of the same number of tokens, per block
  double likeliest_log_p;        ///< E L_p: E max log p of the number of accepted tokens, per block
  double likeliest_log_q;        ///< E max log q of the block's number of tokens, per block
  double cross_entropy;          ///< −E log p of the target's own token, per block: H(q, p)
  double own_entropy;            ///< −E log q of the target's own token, per block

  /// Returns the beam's error ε ≤ 0 for whole drafts: E log p(draft) = (1 − ε) E max log p.
  double beam_error() const;
  /// Returns ε ≤ 0 of the accepted prefixes: E log p(prefix) = (1 − ε) E L_p.
  double prefix_error() const;
  /// Returns M, the log-perplexity of exact greedy MTJD block by block after MTAD's contexts: each block is
  /// the likeliest one with as many tokens as MTAD's block there.
  double joint_log_perplexity() const { return -likeliest_log_q / tokens_per_call; }
};

Result<Assisted> assisted_decoding(const MarkovPair& pair, const AssistedOptions& options);

/// Returns H(q): the mean entropy of the target's distribution along its own sequences.
double entropy_per_token(const MarkovPair& pair);

/// Returns U = sup |log p − log q| over all steps, states and tokens.
double largest_log_ratio(const MarkovPair& pair);

// Bounds for the draft p, the target q, and γ̄ tokens per call.

/// Lemma 3.4: ln PPL_p(text) ≤ −((1−ε)/γ̄) E L_p + H(q, p)/γ̄, E L_p and H(q, p) per block. It can be
/// violated: ε is that of whole drafts, and a prefix of a likely draft need not be likely among those of its
/// length. With ε of the accepted prefixes it is an equality.
double log_perplexity_p_bound(const Assisted& a, double beam_error);

/// Lemma A.1: a block's accepted prefix has Π q/p > τ, and E log(q/p) ≥ 0 for the target's own token, so ln
/// PPL_q(text) − ln PPL_p(text) ≤ −ln τ/γ̄.
double log_ratio_bound(double tau, double tokens_per_call);

/// Theorem 3.5 with its algebra corrected (the paper prints (1−ε+γ̄) U):
/// ln PPL_q(text) − ln PPL_q(MTJD) ≤ −ln τ/γ̄ + ((1−εγ̄) H(q) + (1+γ̄−εγ̄) U)/γ̄.
/// It is false for any ε: MTJD's sequences visit other contexts than MTAD's (see LeavingChain).
double log_loss_bound(double tau, double tokens_per_call, double beam_error, double entropy, double U);

/// A true bound close to Theorem 3.5: joint decoding after MTAD's own contexts.
///
/// Theorem. Let block i continue the context c_i by a_i accepted drafts and, unless the sequence ends there,
/// one token of the target; g_i tokens in total. Let M = −E Σ max log q of g_i tokens after c_i, / T; ε that
/// of the accepted prefixes; s = E Σ a_i / T ≤ 1; H the entropy at the target's own tokens, per block. Then
///
///   ln PPL_q(text) ≤ (1−ε)(M + s U) + (H − ln τ)/γ̄.
///
/// Proof. An accepted prefix has log q ≥ log p + ln τ, and an empty one log q = log p = 0 ≥ ln τ. So, with
/// P_m(c) and Q_m(c) the largest log p and log q of m tokens after c,
///   −E log q(text) ≤ −E[calls] ln τ − E Σ log p(prefix) + E[calls] H
///                  = −E[calls] ln τ − (1−ε) E Σ P_{a_i}(c_i) + E[calls] H.
/// P_m ≥ Q_m − m U, as log p ≥ log q − U at every token of the block that is likeliest under q, and Q_{a_i} ≥
/// Q_{g_i}, as a further token has log q ≤ 0. 1 − ε ≥ 0. So −(1−ε) E Σ P_{a_i} ≤ (1−ε)(T M + U s T); divide
/// by T = γ̄ E[calls]. ∎
///
/// Against MTJD on its own contexts, for a time-homogeneous pair: M ≤ −λ + D/γ̄ by 2 of BestCycle's theorem,
/// and −λ (1 − (states − 1)/T) ≤ ln PPL_q(MTJD) by 1.
double log_perplexity_bound(const Assisted& a, double tau, double U);

/// Theorem 3.6: γ̄ ≥ min(L+1, |ln τ|/U) if the sequence has room for it, since Π_{j≤i} q/p ≥ e^{−iU}.
double tokens_per_call_bound(double tau, std::size_t length, double U);

}  // namespace spectr::lab
