#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "spectr/base/token.h"
#include "spectr/decode/drafter.h"

namespace spectr {

/// An earlier position in a sequence at which its last tokens also occur.
struct NgramMatch {
  std::size_t length = 0;            ///< number of matching tokens; 0 if the last token occurs nowhere else
  std::span<const Token> next = {};  ///< the tokens after the match, up to the end of the sequence

  /// Returns the sequence's i-th next token if it continues as at the match, cyclically if that reaches the
  /// end of the sequence. Requires: length > 0.
  Token continuation(std::size_t i) const { return next[i % next.size()]; }
};

/// Returns the position with the longest match, of at most `max_length` tokens; among several, the latest.
/// Requires: a sequence that is not empty, max_length ≥ 1. Cost: O(sequence), and `max_length` times that if
/// many tokens repeat.
NgramMatch match_end(std::span<const Token> sequence, std::size_t max_length);

/// Free drafts from the sequence itself (prompt lookup): finds the latest earlier occurrence of the last N
/// tokens (or N−1, … 1) and proposes the tokens that followed it, cyclically if the sequence has no more.
/// Their distribution is a point mass, so a token is accepted with the target's own probability and the
/// output has the target's distribution. Cost: O(N · sequence); no model.
class NgramDrafter final : public Drafter {
 public:
  NgramDrafter(std::size_t order, std::size_t length) : order_(order), length_(length) {}

  Result<void> propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) override;
  std::size_t max_nodes(std::size_t left) const override { return 1 + std::min(length_, left); }
  DraftShape shape() const override { return {1, length_}; }
  double outcomes(std::size_t, std::size_t) const override { return 1.0; }
  bool reads_sequence() const override { return true; }

 private:
  std::size_t order_;
  std::size_t length_;
};

/// A running estimate of how often an earlier continuation of the sequence's last tokens is repeated, hence
/// of the acceptance of an NgramDrafter's drafts. It needs no drafting: every token of the sequence has the
/// target's distribution, which also determines whether such a draft is accepted.
class NgramEstimate {
 public:
  /// Maximum number of matching tokens that is considered. Shares are estimated by the number of matching
  /// tokens, because longer matches are more likely to have the same continuation.
  static constexpr std::size_t max_order = 8;
  /// Maximum length of drafts that is considered.
  static constexpr std::size_t max_length = 15;

  NgramEstimate();

  /// Observes the tokens that were appended since the last call; the first call learns nothing. Requires: a
  /// sequence that begins with the last one.
  void see(std::span<const Token> sequence);

  /// Returns the expected tokens of a block after the sequence for each number of drafts from 0, including
  /// the token after the last draft.
  std::array<double, max_length + 1> tokens() const;

 private:
  void look_up(std::span<const Token> sequence);

  /// Statistics of the matches with a given number of tokens.
  struct Repeats {
    double share = 0.0;    // share of them with the same continuation
    std::size_t seen = 0;  // number of them
  };

  std::size_t length_ = 0;                  // of the sequence
  std::size_t match_length_ = 0;            // length of the match of its end, at most max_order
  Token expected_ = 0;                      // the token that followed the match
  std::array<Repeats, max_order> repeats_;  // [match_length_ − 1]
};

}  // namespace spectr
