#include "spectr/decode/auto/acceptance.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/transport/math/division_factor.h"
#include "spectr/transport/plans/tickets.h"

namespace spectr {
namespace {

void move_towards(double& estimate, double seen, double weight) {
  estimate += weight * (seen - estimate);
}

/// The position of k between two numbers of drafts; estimates are linear in their logarithm. k lies after the
/// one at index `left`, by `share` of the way to the next.
struct Between {
  std::size_t left;
  double share;
};

Between between(double k) {
  constexpr auto& drafts = AcceptanceEstimate::drafts;
  const double x = std::log2(std::clamp(k, 1.0, static_cast<double>(drafts.back())));
  const auto left = std::min(static_cast<std::size_t>(x), drafts.size() - 2);
  return {left, x - static_cast<double>(left)};
}

template <class Values>
double at(const Values& values, double k) {
  const auto [left, share] = between(k);
  return values[left] + share * (values[left + 1] - values[left]);
}

/// The distance between stops, in the logarithm of the reach.
constexpr double reach_step = 0.1;

/// By how many of these steps a context of each level of confidence reduces the reach.
constexpr std::array<std::size_t, AutoParams::confidences.size()> steps = {16, 8, 4, 2, 1, 0};

/// The distribution of the reach at a position of a block, in steps; the last entry has all larger values.
class ReachLaw {
 public:
  using ByStop = std::array<double, AcceptanceEstimate::stops>;

  /// Returns, for each stop, the probability that the reach is not below it.
  ByStop by_stop() const {
    ByStop sums;
    std::partial_sum(law_.begin(), law_.end(), sums.begin());
    return sums;
  }
  /// Advances to the next position. A context has each level with probability `shares`, and drafting
  /// continues from that level with probability `left`.
  template <class ByLevel>
  void go_on(const ByLevel& shares, const ByLevel& left) {
    ByStop next = {};
    for (std::size_t b = 0; b < steps.size(); ++b) {
      for (std::size_t s = 0; s < law_.size(); ++s)
        next[std::min(s + steps[b], AcceptanceEstimate::never)] += law_[s] * shares[b] * left[b];
    }
    law_ = next;
  }

 private:
  ByStop law_ = {1.0};
};

}  // namespace

double k_seq_acceptance(const Distribution& p, const Distribution& q, std::size_t k) {
  const DistributionPair pair(p, q);
  return 1.0 - std::exp(static_cast<double>(k) * log_miss(division_factor(pair, k).overlaps.front()));
}

double tickets_acceptance(const Distribution& p, const Distribution& q, std::size_t k) {
  const auto plan = build_tickets(DraftDistributions(p, k), q, {});
  SPECTR_CHECK(plan.has_value());
  return (*plan)->acceptance();
}

AcceptanceEstimate::AcceptanceEstimate(const AutoParams& params, AcceptanceOf dense)
    : params_(params),
      dense_(dense),
      guess_{.confidences = params.initial_confidences},
      first_(static_cast<double>(params.initial_weight), 1.0 - params.min_comparison_weight),
      later_(params.later_prior, params.context_decay),
      surviving_(params.initial_surviving),
      distinct_(params.initial_distinct) {
  for (std::size_t b = 0; b < levels; ++b) {
    for (std::size_t i = 0; i < drafts.size(); ++i)
      guess_.accepted[b][i] = 1.0 - params.initial_missed[i] * (1.0 - params.initial_acceptance[b]);
  }
  estimate();
}

void AcceptanceEstimate::remember(const LearnedAcceptance& learned) {
  guess_ = learned;
  first_ = ContextEstimate(static_cast<double>(params_.learned_weight), 1.0 - params_.min_comparison_weight);
  estimate();
}

void AcceptanceEstimate::estimate() {
  known_first_ = first_.estimate(guess_);
  known_later_ = later_.estimate(known_first_);
}

double AcceptanceEstimate::accepts(const Distribution& p, const Distribution& q, std::size_t k) const {
  const bool dense = p.is_dense() || q.is_dense();
  return (dense ? dense_ : tickets_acceptance)(p, q, k);
}

bool AcceptanceEstimate::wants_distributions() {
  const auto period = static_cast<std::size_t>(1.0 / params_.compared_share);
  const std::size_t block = blocks_++;
  return block < params_.always_compared || block % period == 0;
}

void AcceptanceEstimate::see_confidence(std::size_t position, double confidence) {
  (position == 0 ? first_ : later_).see(confidence_level(confidence));
}

double AcceptanceEstimate::see_first(double confidence, const Distribution& p, const Distribution& q) {
  double by_one = 0.0;
  const std::size_t level = confidence_level(confidence);
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    // One draft takes a single pass over the distributions, several drafts take many passes. Once some
    // contexts are known, the numbers of drafts are compared in rotation.
    const std::size_t others = drafts.size() - 1;
    const bool in_turn = i == 0 || compared_ < params_.always_compared || compared_ % others == i - 1;
    if (!in_turn) continue;
    const double accepted = accepts(p, q, drafts[i]);
    if (i == 0) by_one = accepted;
    first_.see_accepted(level, i, accepted);
  }
  ++compared_;
  estimate();
  return by_one;
}

void AcceptanceEstimate::see_further(double confidence, std::size_t going_on, const Distribution& p,
                                     const Distribution& q) {
  const double accepted = accepts(p, q, going_on);
  const auto [left, share] = between(static_cast<double>(going_on));
  const std::size_t level = confidence_level(confidence);
  if (share < 1.0) later_.see_accepted(level, left, accepted, 1.0 - share);
  if (share > 0.0) later_.see_accepted(level, left + 1, accepted, share);
  estimate();
}

void AcceptanceEstimate::see_survivors(std::size_t drawn, std::size_t survivors) {
  if (drawn < 2 || survivors < 1) return;
  move_towards(surviving_, static_cast<double>(survivors - 1) / static_cast<double>(drawn - 1),
               params_.min_count_weight);
}

void AcceptanceEstimate::see_merging(std::size_t K, std::size_t draws, std::size_t nodes) {
  if (K <= 1) return;
  const auto [left, share] = between(static_cast<double>(K));
  const double seen = static_cast<double>(nodes) / static_cast<double>(draws);
  for (const auto& [index, weight] : {std::pair(left, 1.0 - share), std::pair(left + 1, share)}) {
    if (index > 0) move_towards(distinct_[index], seen, weight * params_.min_count_weight);
  }
}

double AcceptanceEstimate::nodes(std::size_t K, std::size_t L, std::size_t trunk) const {
  return static_cast<double>(trunk) +
         static_cast<double>(K * (L - trunk)) * at(distinct_, static_cast<double>(K));
}

AcceptanceEstimate::ByLevel AcceptanceEstimate::accepted_at(std::size_t position, std::size_t K,
                                                            std::size_t trunk) const {
  const double others = position < trunk ? 0.0
                                         : static_cast<double>(K - 1) *
                                               std::pow(surviving_, static_cast<double>(position - trunk));
  const double going_on = 1.0 + others;
  const LearnedAcceptance& known = position == 0 ? known_first_ : known_later_;
  ByLevel accepted;
  for (std::size_t b = 0; b < levels; ++b) accepted[b] = at(known.accepted[b], going_on);
  return accepted;
}

double AcceptanceEstimate::min_reach(std::size_t stop) {
  return stop >= never ? 0.0 : std::exp(-reach_step * (static_cast<double>(stop) + 0.5));
}

AcceptanceEstimate::ByStop AcceptanceEstimate::drafted() const {
  ByLevel all;
  all.fill(1.0);
  ReachLaw law;
  ByStop drafted;
  for (std::size_t position = 0; position < positions; ++position) {
    drafted[position] = law.by_stop();
    law.go_on(confidences_at(position), all);
  }
  return drafted;
}

AcceptanceEstimate::ByStop AcceptanceEstimate::accepted(std::size_t K) const {
  const auto means = acceptances(K);
  ReachLaw law;
  ByStop accepted;
  for (std::size_t position = 0; position < positions; ++position) {
    accepted[position] = law.by_stop();
    for (double& probability : accepted[position]) probability *= means[position];
    law.go_on(confidences_at(position), accepted_at(position, K));
  }
  return accepted;
}

std::array<double, AcceptanceEstimate::positions> AcceptanceEstimate::acceptances(std::size_t K,
                                                                                  std::size_t trunk) const {
  std::array<double, positions> means;
  for (std::size_t position = 0; position < positions; ++position) {
    const ByLevel& shares = confidences_at(position);
    const ByLevel accepted = accepted_at(position, K, trunk);
    means[position] = std::inner_product(shares.begin(), shares.end(), accepted.begin(), 0.0);
  }
  return means;
}

std::array<double, AcceptanceEstimate::positions + 1> AcceptanceEstimate::tokens(std::size_t K,
                                                                                 std::size_t trunk) const {
  std::array<double, positions + 1> tokens = {1.0};
  double reached = 1.0;
  for (std::size_t L = 1; const double accepted : acceptances(K, trunk)) {
    reached *= accepted;
    tokens[L] = tokens[L - 1] + reached;
    ++L;
  }
  return tokens;
}

}  // namespace spectr
