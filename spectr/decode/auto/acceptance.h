#pragma once

#include <array>
#include <cstddef>

#include "spectr/decode/auto/auto_params.h"
#include "spectr/decode/auto/context_estimate.h"
#include "spectr/decode/auto/cost_model.h"
#include "spectr/transport/distribution.h"

namespace spectr {

/// Returns the probability that a plan accepts one of k drafts.
using AcceptanceOf = double (*)(const Distribution& p, const Distribution& q, std::size_t k);

/// Returns the acceptance of k-Seq, which takes a few passes over the distributions.
double k_seq_acceptance(const Distribution& p, const Distribution& q, std::size_t k);
/// Returns that of the optimal plan, like optimal_acceptance(), but by building it: no sort of all tokens.
double tickets_acceptance(const Distribution& p, const Distribution& q, std::size_t k);

/// Running estimates of a model pair's acceptance in the current sequence, and of the draft model's
/// confidence there. They depend only on the sequence and on past blocks: not on the clock, on other
/// requests, or on the token that is being decided.
class AcceptanceEstimate {
 public:
  /// The numbers of draft sequences that are estimated.
  static constexpr auto drafts = AutoParams::drafts;
  /// The number of positions of a block that are estimated.
  static constexpr std::size_t positions = AutoParams::max_length;

  explicit AcceptanceEstimate(const AutoParams& params = {}, AcceptanceOf dense = k_seq_acceptance);

  /// Starts from the acceptance of earlier completions instead of the default guess.
  void remember(const LearnedAcceptance& learned);
  /// Returns the acceptance at the first position; contexts() is the number of contexts it is based on.
  LearnedAcceptance learned() const { return first_.estimate(guess_); }
  std::size_t contexts() const { return compared_; }

  /// Counts a block, and returns true if its distributions are to be compared.
  bool wants_distributions();
  /// Counts a context at a position of a block that was reached. It affects the estimates when distributions
  /// are compared next.
  void see_confidence(std::size_t position, double confidence);
  /// Compares the distributions in the last counted context, at the first position: computes the plan's exact
  /// acceptance for each number of drafts. Returns the acceptance of one draft.
  double see_first(double confidence, const Distribution& p, const Distribution& q);
  /// Compares the distributions at a later position, with `going_on` drafts that continue there.
  void see_further(double confidence, std::size_t going_on, const Distribution& p, const Distribution& q);

  /// Counts the `survivors` of `drawn` drafts at a node.
  void see_survivors(std::size_t drawn, std::size_t survivors);
  /// Counts a block of K draft sequences with `draws` tokens in total and `nodes` different prefixes.
  void see_merging(std::size_t K, std::size_t draws, std::size_t nodes);

  /// Stops. Drafts continue while the product of the confidences above them, their reach, is not below a
  /// bound. Stop s is at the reach exp(−(s + ½) / 10); at the last stop drafts always continue.
  static constexpr std::size_t stops = 18;
  static constexpr std::size_t never = stops - 1;
  static double min_reach(std::size_t stop);

  /// A probability for every position of a block and every stop.
  using ByStop = std::array<std::array<double, stops>, positions>;
  /// Return the probabilities that a block drafts at a position, and that it drafts there and continues, with
  /// K draft sequences, 1 ≤ K ≤ 8.
  ByStop drafted() const;
  ByStop accepted(std::size_t K) const;

  /// Returns, for each position, the probability that a block of K draft sequences without a stop continues
  /// there, given that it reaches the position.
  std::array<double, positions> acceptances(std::size_t K, std::size_t trunk = 0) const;
  /// Returns the expected tokens of a block of K draft sequences for each length from 0, including the token
  /// after the last draft.
  std::array<double, positions + 1> tokens(std::size_t K, std::size_t trunk = 0) const;
  /// Returns the expected number of different nodes of K draft sequences of L tokens. Requires: trunk < L.
  double nodes(std::size_t K, std::size_t L, std::size_t trunk = 0) const;

 private:
  static constexpr std::size_t levels = AutoParams::confidences.size();
  using ByLevel = std::array<double, levels>;

  /// Returns the acceptance at a position by level, with K draft sequences that share a trunk.
  ByLevel accepted_at(std::size_t position, std::size_t K, std::size_t trunk = 0) const;
  const ByLevel& confidences_at(std::size_t position) const {
    return (position == 0 ? known_first_ : known_later_).confidences;
  }
  /// Updates the cached estimates.
  void estimate();

  /// Returns the acceptance of one of k drafts: of the optimal plan if distributions are short, else dense_.
  double accepts(const Distribution& p, const Distribution& q, std::size_t k) const;

  AutoParams params_;
  AcceptanceOf dense_;
  LearnedAcceptance guess_;        // for the first position
  ContextEstimate first_, later_;  // by position; the first provides the guess for the later ones
  LearnedAcceptance known_first_, known_later_;
  std::size_t blocks_ = 0;                      // blocks with drafts
  std::size_t compared_ = 0;                    // number of compared contexts at first positions
  double surviving_;                            // the share of the other drafts that equal the accepted one
  std::array<double, drafts.size()> distinct_;  // nodes per draw, by `drafts`
};

}  // namespace spectr
