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

/// Exact expected values over whole texts of T tokens: blocks are enumerated from every state, and their
/// costs weighed with the mass that reaches it. Logarithms are natural.
struct Assisted {
  double tokens_per_call;        ///< γ̄ = T / E[calls], the target's own token of a block included
  double tokens_per_full_block;  ///< the same of the blocks that have room for L + 1 tokens
  double log_perplexity_q;       ///< −E log q(text) / T
  double log_perplexity_p;       ///< −E log p(text) / T
  double drafted_log_p;          ///< E log p of a block's whole draft, per block
  double likeliest_draft_log_p;  ///< E max log p of as many tokens, per block
  double likeliest_log_p;        ///< E L_p: E max log p of as many tokens as were accepted, per block
  double cross_entropy;          ///< −E log p of the target's own token, per block: H(q, p)

  /// ε ≤ 0, the beam's error: E log p(draft) = (1 − ε) E max log p, of whole drafts.
  double beam_error() const;
};

Result<Assisted> assisted_decoding(const MarkovPair& pair, const AssistedOptions& options);

/// H(q): the mean entropy of the target's distribution along its own texts.
double entropy_per_token(const MarkovPair& pair);

/// U = sup |log p − log q| over all steps, states and tokens.
double largest_log_ratio(const MarkovPair& pair);

// The bounds, for p the draft, q the target, γ̄ the tokens per call.

/// Lemma 3.4: ln PPL_p(text) ≤ −((1−ε)/γ̄) E L_p + H(q, p)/γ̄, E L_p and H(q, p) per block. It can be violated:
/// ε is that of whole drafts, and a prefix of a likely draft need not be likely among those of its length.
/// With ε of the accepted prefixes it is an equation.
double log_perplexity_p_bound(const Assisted& a, double beam_error);

/// Lemma A.1: a block's accepted prefix has Π q/p > τ, and E log(q/p) ≥ 0 for the target's own
/// token, so ln PPL_q(text) − ln PPL_p(text) ≤ −ln τ/γ̄.
double log_ratio_bound(double tau, double tokens_per_call);

/// Theorem 3.5:
/// ln PPL_q(text) − ln PPL_q(MTJD) ≤ −ln τ/γ̄ + ((1−εγ̄) H(q) + (1+γ̄−εγ̄) U)/γ̄.
/// (The paper prints (1−ε+γ̄) U, which is less where −ε (γ̄−1) > 0 and can be violated.) Proven for ε of the
/// accepted prefixes, since it rests on Lemma 3.4.
double log_loss_bound(double tau, double tokens_per_call, double beam_error, double entropy, double U);

/// Theorem 3.6: γ̄ ≥ min(L+1, |ln τ|/U) where the text leaves room for it, since Π_{j≤i} q/p ≥ e^{−iU}.
double tokens_per_call_bound(double tau, std::size_t length, double U);

}  // namespace spectr::lab
