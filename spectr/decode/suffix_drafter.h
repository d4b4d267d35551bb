#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "spectr/base/recycled.h"
#include "spectr/base/token.h"
#include "spectr/decode/drafter.h"
#include "spectr/decode/suffix_automaton.h"

namespace spectr {

/// Free drafts from what followed the sequence's ending before, in the sequence itself and in a corpus
/// (SuffixDecoding, arXiv 2411.04975): a tree of the continuations that are most likely to be accepted.
///
/// The probability of a continuation x is estimated from every ending of m tokens that occurred before, n of
/// N times followed by x, from the shortest to the longest:
///
///   e_0(x) = 0,   e_m(x) = (n + e_{m−1}(x)) / (N + 1).
///
/// So each length counts as one more observation of what the shorter ones promise: one earlier place that
/// agrees in m tokens gives 1 − 2^−m. Of the sequence and the corpus, the one with the longer match is asked
/// last. The tree takes the node with the largest product of estimates on its path until that falls below
/// min_reach, at most L tokens deep and max_drafted nodes large.
///
/// The tree is a function of the sequence, so its verifier is a MembershipWalk. Cost: O(1) for each token of
/// the sequence, once, and a bounded number of continuations for each node.
class SuffixDrafter final : public Drafter {
 public:
  static constexpr std::size_t max_drafted = 64;
  /// L where none is given: estimates end the drafts.
  static constexpr std::size_t open_length = 16;

  /// The corpus may be null.
  SuffixDrafter(std::size_t length, double min_reach, std::shared_ptr<const SuffixAutomaton> corpus = {})
      : length_(length), min_reach_(min_reach), corpus_(std::move(corpus)) {}

  Result<void> propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) override;
  std::size_t max_nodes(std::size_t left) const override {
    return 1 + (std::min(length_, left) > 0 ? max_drafted : 0);
  }
  DraftShape shape() const override { return {1, length_}; }
  double outcomes(std::size_t, std::size_t) const override { return 1.0; }
  bool reads_sequence() const override { return true; }

 private:
  /// The endings of a path that occur in the sequence and in the corpus.
  struct Context {
    SuffixAutomaton::Match own, corpus;
  };
  struct Continuation {
    Token token;
    double probability;
  };

  /// Brings the automaton and the match in the corpus up to date. They start anew if `sequence` does not
  /// begin with the last one.
  void follow(const BlockStart& start);
  Context after(const Context& context, Token token) const;
  /// Possible continuations, the likeliest first.
  RecycledVector<Continuation> continuations(const Context& context) const;

  std::size_t length_;
  double min_reach_;
  std::shared_ptr<const SuffixAutomaton> corpus_;
  SuffixAutomaton own_;
  std::vector<Token> followed_;  // the sequence that own_ has
  SuffixAutomaton::Match in_corpus_;
};

}  // namespace spectr
