#pragma once

#include <array>
#include <cstddef>

#include "spectr/decode/auto/auto_params.h"
#include "spectr/decode/auto/context_estimate.h"
#include "spectr/decode/auto/cost_model.h"
#include "spectr/transport/distribution.h"

namespace spectr {

/// The probability that a plan accepts one of k drafts.
using AcceptanceOf = double (*)(const Distribution& p, const Distribution& q, std::size_t k);

/// Of k-Seq, which takes a few passes over the distributions.
double k_seq_acceptance(const Distribution& p, const Distribution& q, std::size_t k);
/// Of the optimal plan: optimal_acceptance() without ordering all tokens, which takes as long as building it.
double tickets_acceptance(const Distribution& p, const Distribution& q, std::size_t k);

/// Running estimates of what a pair of models accepts in the sequence at hand, and of how confident the draft
/// model is there. They are functions of the sequence and of past blocks alone: no clock, no other request,
/// no look at the token that is being decided.
class AcceptanceEstimate {
 public:
  /// The numbers of draft sequences that are considered.
  static constexpr auto drafts = AutoParams::drafts;
  /// The positions of a block that are considered.
  static constexpr std::size_t positions = AutoParams::max_length;

  explicit AcceptanceEstimate(const AutoParams& params = {}, AcceptanceOf dense = k_seq_acceptance);

  /// Begins with what was accepted in earlier completions instead of the usual guess.
  void remember(const LearnedAcceptance& learned);
  /// What was accepted at the first position, and how many contexts tell so.
  LearnedAcceptance learned() const { return first_.estimate(guess_); }
  std::size_t contexts() const { return compared_; }

  /// Counts a block, and says whether its distributions shall be compared.
  bool wants_distributions();
  /// Counts a context at a position of a block that was reached. What is estimated takes it into account when
  /// distributions are compared next.
  void see_confidence(std::size_t position, double confidence);
  /// Compares the distributions in a context at the first position, which was counted last: what the plan
  /// accepts of them with each number of drafts, exactly. Returns what it accepts with one draft.
  double see_first(double confidence, const Distribution& p, const Distribution& q);
  /// The same at a later position, with so many drafts that go on.
  void see_further(double confidence, std::size_t going_on, const Distribution& p, const Distribution& q);

  /// Of `drawn` drafts at a node, `survivors` went on.
  void see_survivors(std::size_t drawn, std::size_t survivors);
  /// A block of K draft sequences, `draws` tokens in all, had `nodes` different prefixes.
  void see_merging(std::size_t K, std::size_t draws, std::size_t nodes);

  /// Where drafts stop that go on while the product of the confidences above them, their reach, is not below
  /// a bound. Stop s is at the reach exp(−(s + ½) / 10); at the last one drafts never stop.
  static constexpr std::size_t stops = 18;
  static constexpr std::size_t never = stops - 1;
  static double min_reach(std::size_t stop);

  /// A probability for every position of a block, by the stop.
  using ByStop = std::array<std::array<double, stops>, positions>;
  /// The probabilities that a block drafts at a position, and that it drafts there and goes on, with K draft
  /// sequences, 1 ≤ K ≤ 8.
  ByStop drafted() const;
  ByStop accepted(std::size_t K) const;

  /// The probabilities that a block of K draft sequences that never stop goes on at a position that it
  /// reaches, by position.
  std::array<double, positions> acceptances(std::size_t K, std::size_t trunk = 0) const;
  /// The expected tokens of a block of K draft sequences by their length, 0 at first; the one after the last
  /// draft is included.
  std::array<double, positions + 1> tokens(std::size_t K, std::size_t trunk = 0) const;
  /// The expected number of different nodes of K draft sequences of L tokens. Requires: trunk < L.
  double nodes(std::size_t K, std::size_t L, std::size_t trunk = 0) const;

 private:
  static constexpr std::size_t levels = AutoParams::confidences.size();
  using ByLevel = std::array<double, levels>;

  /// The acceptance at a position by level, with K draft sequences that share the first `trunk` tokens.
  ByLevel accepted_at(std::size_t position, std::size_t K, std::size_t trunk = 0) const;
  const ByLevel& confidences_at(std::size_t position) const {
    return (position == 0 ? known_first_ : known_later_).confidences;
  }
  /// Brings what is known up to date.
  void estimate();

  /// The probability that the plan accepts one of k drafts: the optimal one where distributions are short.
  double accepts(const Distribution& p, const Distribution& q, std::size_t k) const;

  AutoParams params_;
  AcceptanceOf dense_;
  LearnedAcceptance guess_;        // of the first position
  ContextEstimate first_, later_;  // positions; the first tells what to guess of the later ones
  LearnedAcceptance known_first_, known_later_;
  std::size_t blocks_ = 0;                      // with drafts
  std::size_t compared_ = 0;                    // contexts at first positions
  double surviving_;                            // the share of the other drafts that equal the accepted one
  std::array<double, drafts.size()> distinct_;  // nodes per draw, by `drafts`
};

}  // namespace spectr
