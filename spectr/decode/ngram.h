#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "spectr/base/token.h"
#include "spectr/decode/auto/auto_params.h"
#include "spectr/decode/drafter.h"

namespace spectr {

/// An earlier place in a sequence where the same tokens stand as at its end.
struct NgramMatch {
  std::size_t length = 0;            ///< tokens that agree; 0 where the last token stands nowhere else
  std::span<const Token> next = {};  ///< what followed them, up to the end of the sequence

  /// The sequence's i-th next token if it goes on as it did there, in circles where it reaches its own end.
  /// Requires: length > 0.
  Token continuation(std::size_t i) const { return next[i % next.size()]; }
};

/// The place where most tokens agree, of which no more than `max_length` count; the latest of several.
/// Requires: a sequence that is not empty, max_length ≥ 1. Cost: O(sequence), and `max_length` times that
/// where many tokens repeat.
NgramMatch match_end(std::span<const Token> sequence, std::size_t max_length);

/// Free drafts from the sequence itself (prompt lookup): it looks for the latest earlier place where the last
/// N tokens stand (else N−1, … 1) and proposes the tokens that followed it, in circles where the sequence has
/// no more. Their distribution is a point mass, so a token is accepted with the target's own probability and
/// the output has the target's distribution. Cost: O(N · sequence); no model.
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

/// A running estimate of how often what followed the end of a sequence before follows it again, hence of how
/// many drafts of an NgramDrafter the target accepts. It is known without drafting any, since every token of
/// the sequence has the target's distribution, which is what such a draft is accepted by.
class NgramEstimate {
 public:
  /// The most tokens whose agreement counts. Shares are told apart by the number of tokens that agree,
  /// because places that agree in many tokens tend to go on alike.
  static constexpr std::size_t max_order = AutoParams::max_ngram_order;
  /// The longest draft that is considered.
  static constexpr std::size_t max_length = AutoParams::max_ngram_length;

  explicit NgramEstimate(const AutoParams& params = {});

  /// Takes note of what the sequence has gained since the last call; nothing is learned from the first one.
  /// Requires: a sequence that begins with the last one.
  void see(std::span<const Token> sequence);

  /// The expected tokens of a block behind the sequence by the number of drafts, 0 at first; the one after
  /// the last draft is included.
  std::array<double, max_length + 1> tokens() const;

 private:
  void look_up(std::span<const Token> sequence);

  /// What is known of the places where so many tokens agree.
  struct Repeats {
    double share = 0.0;    // of them that goes on alike
    std::size_t seen = 0;  // how many there were
  };

  double min_weight_;
  std::size_t length_ = 0;                  // of the sequence
  std::size_t agree_ = 0;                   // tokens at its end that stand earlier too, at most max_order
  Token expected_ = 0;                      // what follows there
  std::array<Repeats, max_order> repeats_;  // [agree − 1]
};

}  // namespace spectr
