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

/// Free drafts from earlier continuations of the sequence's ending, in the sequence itself and in a corpus
/// (SuffixDecoding, arXiv 2411.04975): a tree of the continuations that are most likely to be accepted.
///
/// The probability of a continuation x is estimated from every ending of m tokens that occurred N times
/// before, n times followed by x, from the shortest to the longest:
///
///   e_0(x) = 0,   e_m(x) = (n + e_{m−1}(x)) / (N + 1).
///
/// Each length thus counts as one more observation for the prediction of the shorter ones: one earlier match
/// of m tokens gives 1 − 2^−m. Of the sequence and the corpus, the one with the longer match is evaluated
/// last. The tree repeatedly takes the node with the largest product of estimates on its path until that
/// falls below min_reach; it has at most L levels and max_drafted nodes.
///
/// The tree is a function of the sequence, so its verifier is a MembershipWalk. Cost: O(1) once for each
/// token of the sequence, and a bounded number of continuations per node.
class SuffixDrafter final : public Drafter {
 public:
  static constexpr std::size_t max_drafted = 64;
  /// L if none is given; the estimates then end the drafts.
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
  /// The longest endings of a path that occur in the sequence and in the corpus.
  struct Context {
    SuffixAutomaton::Match own, corpus;
  };
  struct Continuation {
    Token token;
    double probability;
  };

  /// Updates the automaton and the match in the corpus. They start anew unless `sequence` begins with the
  /// previous one.
  void follow(const BlockStart& start);
  Context after(const Context& context, Token token) const;
  /// Returns possible continuations, the likeliest first.
  RecycledVector<Continuation> continuations(const Context& context) const;

  std::size_t length_;
  double min_reach_;
  std::shared_ptr<const SuffixAutomaton> corpus_;
  SuffixAutomaton own_;
  std::vector<Token> followed_;  // the sequence in own_
  SuffixAutomaton::Match in_corpus_;
};

}  // namespace spectr
