#pragma once

#include <array>
#include <cstddef>

#include "spectr/transport/distribution.h"

namespace spectr {

/// Running estimates of what a pair of models accepts in the text at hand. They are functions of the text and
/// of past blocks alone: no clock, no other request, no look at the token that is being decided.
class AcceptanceEstimate {
 public:
  /// Numbers of drafts that are considered.
  static constexpr std::array<std::size_t, 4> drafts = {1, 2, 4, 8};

  /// Share of the blocks whose laws are looked at, once some have been seen.
  static constexpr double looks_per_block = 0.25;

  /// Counts a block, and says whether its laws shall be looked at.
  bool wants_laws();
  /// The laws at a node where a block began: what k-Seq accepts of them with each number of drafts, exactly.
  void see_laws(const Distribution& p, const Distribution& q);
  /// Whether the laws are of the whole vocabulary, not cut short by filters.
  bool dense() const { return dense_; }

  /// Of `drawn` drafts at a node, `survivors` went on; a block of `draws` draws had `nodes` different
  /// prefixes.
  void see_survivors(std::size_t drawn, std::size_t survivors);
  void see_merging(std::size_t draws, std::size_t nodes);

  /// Probability that one of k drafts is accepted, 1 ≤ k ≤ 8, not necessarily whole.
  double acceptance(double k) const;
  /// Expected tokens of a block of K sequences of L tokens, the one after the last draft included.
  double tokens(std::size_t K, std::size_t L) const;
  /// Expected different nodes among n draws.
  double nodes(std::size_t n) const { return static_cast<double>(n) * (n > 1 ? distinct_ : 1.0); }

 private:
  std::array<double, drafts.size()> acceptance_ = {0.7, 0.78, 0.84, 0.88};  // until something has been seen
  std::size_t blocks_ = 0;                                                  // with drafts
  std::size_t seen_ = 0;                                                    // contexts
  bool dense_ = true;
  double surviving_ = 0.4;  // share of the other drafts that equal the accepted one
  double distinct_ = 0.75;  // nodes per draw
};

}  // namespace spectr
