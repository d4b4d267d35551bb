#pragma once

#include <array>
#include <cstddef>

#include "spectr/decode/auto/auto_params.h"
#include "spectr/decode/auto/cost_model.h"
#include "spectr/transport/distribution.h"

namespace spectr {

/// The probability that a plan accepts one of k drafts.
using AcceptanceOf = double (*)(const Distribution& p, const Distribution& q, std::size_t k);

/// Of k-Seq, which takes a few passes over the distributions.
double k_seq_acceptance(const Distribution& p, const Distribution& q, std::size_t k);
/// Of the optimal plan: optimal_acceptance() without ordering all tokens, which takes as long as building it.
double tickets_acceptance(const Distribution& p, const Distribution& q, std::size_t k);

/// Running estimates of what a pair of models accepts in the sequence at hand. They are functions of the
/// sequence and of past blocks alone: no clock, no other request, no look at the token that is being decided.
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
  const LearnedAcceptance& learned() const { return acceptance_; }
  std::size_t contexts() const { return seen_; }

  /// Counts a block, and says whether its distributions shall be compared.
  bool wants_distributions();
  /// Compares the distributions at the first position of a block: what the plan accepts of them with each
  /// number of drafts, exactly. Returns what it accepts with one draft.
  double see_first(const Distribution& p, const Distribution& q);
  /// Compares the distributions at a position behind the first that was reached, with `going_on` of K drafts:
  /// what the plan accepts of them, beside what was to be expected.
  void see_further(std::size_t position, std::size_t K, std::size_t going_on, const Distribution& p,
                   const Distribution& q);

  /// Of `drawn` drafts at a node, `survivors` went on.
  void see_survivors(std::size_t drawn, std::size_t survivors);
  /// A block of K draft sequences, `draws` tokens in all, had `nodes` different prefixes.
  void see_merging(std::size_t K, std::size_t draws, std::size_t nodes);

  /// The probabilities that a block of K draft sequences, 1 ≤ K ≤ 8, goes on at a position that it reaches,
  /// by position.
  std::array<double, positions> acceptances(std::size_t K) const;
  /// The expected tokens of a block of K draft sequences by their length, 0 at first; the one after the last
  /// draft is included.
  std::array<double, positions + 1> tokens(std::size_t K) const;
  /// The expected number of different nodes of K draft sequences of L tokens.
  double nodes(std::size_t K, std::size_t L) const;

 private:
  /// Sums over the contexts that were compared at one position, old ones with less weight: `seen`, the
  /// rejection probabilities of the plan there; `expected`, those that the first position and the mean number
  /// of survivors predict. They differ, because what was accepted so far tells of the sequence, and because
  /// many and few survivors are not as good as the average number.
  struct Misses {
    double seen = 0.0;
    double expected = 0.0;
    double contexts = 0.0;
    double prior = 0.0;  // the weight, in contexts, of the guess that they are as at the position before
  };
  using Positions = std::array<Misses, positions>;

  /// What is accepted at the first position with k drafts, not necessarily a whole number.
  double first_acceptance(double k) const;
  double expected_miss(std::size_t K, std::size_t position) const;

  /// The probability that the plan accepts none of k drafts: the optimal one where distributions are short.
  double miss(const Distribution& p, const Distribution& q, std::size_t k) const;

  AutoParams params_;
  AcceptanceOf dense_;
  LearnedAcceptance acceptance_;                          // of the first position, by `drafts`
  std::size_t initial_weight_;                            // of the first guess, in contexts
  std::size_t blocks_ = 0;                                // with drafts
  std::size_t seen_ = 0;                                  // contexts
  std::array<std::size_t, drafts.size()> compared_ = {};  // those that were compared, by `drafts`
  Positions single_, several_;                            // of blocks of one draft sequence, of more
  double surviving_;                            // the share of the other drafts that equal the accepted one
  std::array<double, drafts.size()> distinct_;  // nodes per draw, by `drafts`
};

}  // namespace spectr
