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

  /// Positions of a block that are considered.
  static constexpr std::size_t positions = 8;

  /// Share of the blocks whose laws are looked at, once some have been seen.
  static constexpr double looks_per_block = 0.25;

  /// Counts a block, and says whether its laws shall be looked at.
  bool wants_laws();
  /// The laws at the first position of a block: what k-Seq accepts of them with each number of drafts,
  /// exactly. Returns what it accepts with one draft.
  double see_first(const Distribution& p, const Distribution& q);
  /// The laws at a position behind the first that was reached, with `going_on` of K drafts: what k-Seq
  /// accepts of them, beside what was to be expected.
  void see_further(std::size_t position, std::size_t K, std::size_t going_on, const Distribution& p,
                   const Distribution& q);

  /// Of `drawn` drafts at a node, `survivors` went on.
  void see_survivors(std::size_t drawn, std::size_t survivors);
  /// A block of K sequences, `draws` tokens in all, had `nodes` different prefixes. Requires: K of `drafts`.
  void see_merging(std::size_t K, std::size_t draws, std::size_t nodes);

  /// Probabilities that a block of K sequences, 1 ≤ K ≤ 8, goes on at a position that it reaches, by
  /// position.
  std::array<double, positions> acceptances(std::size_t K) const;
  /// Expected tokens of a block of K sequences by their length, 0 at first; the one after the last draft
  /// included.
  std::array<double, positions + 1> tokens(std::size_t K) const;
  /// Expected different nodes of K sequences of L tokens. Requires: K of `drafts`.
  double nodes(std::size_t K, std::size_t L) const;

 private:
  /// Sums over the contexts that were looked at, at one position, old ones with less weight. seen: rejection
  /// probabilities of k-Seq there; expected: those that the first position and the mean number of survivors
  /// predict. They differ, because what was accepted so far tells of the text, and because many and few
  /// survivors are not as good as the average number.
  struct Misses {
    double seen = 0.0;
    double expected = 0.0;
    double contexts = 0.0;
    double doubt = 8.0;  // that they are as at the position before weighs as much as so many contexts
  };
  using Positions = std::array<Misses, positions>;

  /// With k drafts, not necessarily a whole number.
  double first_acceptance(double k) const;
  double expected_miss(std::size_t K, std::size_t position) const;

  std::array<double, drafts.size()> acceptance_ = {0.7, 0.78, 0.84, 0.88};  // until something has been seen
  std::size_t blocks_ = 0;                                                  // with drafts
  std::size_t seen_ = 0;                                                    // contexts
  std::array<std::size_t, drafts.size()> looked_ = {};                      // those that were looked at
  Positions single_, several_;  // of blocks of one sequence, of more
  double surviving_ = 0.4;      // share of the other drafts that equal the accepted one
  // Nodes per draw.
  std::array<double, drafts.size()> distinct_ = {1.0, 0.85, 0.75, 0.65};
};

}  // namespace spectr
