#include "spectr/decode/auto/acceptance.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/transport/division_factor.h"
#include "spectr/transport/tickets.h"

namespace spectr {
namespace {

void move_towards(double& estimate, double seen, double weight) {
  estimate += weight * (seen - estimate);
}

/// Where k stands between the numbers of drafts, to whose logarithm what is estimated is linear: behind the
/// one at `left` by `share` of the way to the next.
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
      acceptance_(params.initial_acceptance),
      initial_weight_(params.initial_weight),
      surviving_(params.initial_surviving),
      distinct_(params.initial_distinct) {
  for (Positions* all : {&single_, &several_}) {
    for (Misses& misses : *all) misses.prior = params.position_prior;
  }
}

void AcceptanceEstimate::remember(const LearnedAcceptance& learned) {
  acceptance_ = learned;
  initial_weight_ = params_.learned_weight;
}

double AcceptanceEstimate::miss(const Distribution& p, const Distribution& q, std::size_t k) const {
  const bool dense = p.is_dense() || q.is_dense();
  return 1.0 - (dense ? dense_ : tickets_acceptance)(p, q, k);
}

bool AcceptanceEstimate::wants_distributions() {
  const auto period = static_cast<std::size_t>(1.0 / params_.compared_share);
  const std::size_t block = blocks_++;
  return block < params_.always_compared || block % period == 0;
}

double AcceptanceEstimate::see_first(const Distribution& p, const Distribution& q) {
  double by_one = 0.0;
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    // One draft takes one pass over the distributions, several take many: once some contexts are known, they
    // take turns.
    const std::size_t others = drafts.size() - 1;
    const bool in_turn = i == 0 || seen_ < params_.always_compared || seen_ % others == i - 1;
    if (!in_turn) continue;
    const double min_weight =
        i == 0 ? params_.min_comparison_weight : params_.min_comparison_weight * static_cast<double>(others);
    // At first this is the mean of all, the guess among them.
    const double accepted = 1.0 - miss(p, q, drafts[i]);
    if (drafts[i] == 1) by_one = accepted;
    move_towards(acceptance_[i], accepted,
                 std::max(min_weight, 1.0 / static_cast<double>(++compared_[i] + initial_weight_)));
  }
  ++seen_;
  return by_one;
}

void AcceptanceEstimate::see_further(std::size_t position, std::size_t K, std::size_t going_on,
                                     const Distribution& p, const Distribution& q) {
  SPECTR_CHECK(position < positions);
  Misses& here = (K == 1 ? single_ : several_)[position];
  const double decay = params_.context_decay;
  here.seen = decay * here.seen + miss(p, q, going_on);
  here.expected = decay * here.expected + expected_miss(K, position);
  here.contexts = decay * here.contexts + 1.0;
  here.prior *= decay;
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

double AcceptanceEstimate::nodes(std::size_t K, std::size_t L) const {
  return static_cast<double>(K * L) * at(distinct_, static_cast<double>(K));
}

double AcceptanceEstimate::first_acceptance(double k) const {
  return at(acceptance_, k);
}

double AcceptanceEstimate::expected_miss(std::size_t K, std::size_t position) const {
  const double going_on = std::pow(surviving_, static_cast<double>(position));
  return 1.0 - first_acceptance(1.0 + static_cast<double>(K - 1) * going_on);
}

std::array<double, AcceptanceEstimate::positions> AcceptanceEstimate::acceptances(std::size_t K) const {
  std::array<double, positions> acceptances;
  double ratio = 1.0;  // of what is missed to what was expected
  for (std::size_t i = 0; i < positions; ++i) {
    const auto& [seen, expected, contexts, prior] = (K == 1 ? single_ : several_)[i];
    if (expected > 0.0) {
      const double guess = prior * expected / contexts;
      ratio = (seen + ratio * guess) / (expected + guess);
    }
    acceptances[i] = std::max(0.0, 1.0 - ratio * expected_miss(K, i));
  }
  return acceptances;
}

std::array<double, AcceptanceEstimate::positions + 1> AcceptanceEstimate::tokens(std::size_t K) const {
  std::array<double, positions + 1> tokens = {1.0};
  double reached = 1.0;
  for (std::size_t L = 1; const double accepted : acceptances(K)) {
    reached *= accepted;
    tokens[L] = tokens[L - 1] + reached;
    ++L;
  }
  return tokens;
}

}  // namespace spectr
