#include "spectr/decode/auto/acceptance.h"

#include <algorithm>
#include <cmath>

#include "spectr/base/check.h"
#include "spectr/transport/division_factor.h"

namespace spectr {
namespace {

void move_towards(double& estimate, double seen, double weight) {
  estimate += weight * (seen - estimate);
}

/// The probability that k-Seq accepts none of k drafts.
double miss(const DistributionPair& pair, std::size_t k) {
  return std::exp(static_cast<double>(k) * log_miss(division_factor(pair, k).overlaps.front()));
}

/// The index of K among the numbers of drafts.
std::size_t index_of(std::size_t K) {
  const auto at = std::ranges::find(AcceptanceEstimate::drafts, K);
  SPECTR_CHECK(at != AcceptanceEstimate::drafts.end());
  return static_cast<std::size_t>(at - AcceptanceEstimate::drafts.begin());
}

}  // namespace

AcceptanceEstimate::AcceptanceEstimate(const AutoParams& params)
    : params_(params),
      acceptance_(params.initial_acceptance),
      surviving_(params.initial_surviving),
      distinct_(params.initial_distinct) {
  for (Positions* all : {&single_, &several_}) {
    for (Misses& misses : *all) misses.prior = params.position_prior;
  }
}

bool AcceptanceEstimate::wants_distributions() {
  const auto period = static_cast<std::size_t>(1.0 / params_.compared_share);
  const std::size_t block = blocks_++;
  return block < params_.always_compared || block % period == 0;
}

double AcceptanceEstimate::see_first(const Distribution& p, const Distribution& q) {
  const DistributionPair pair(p, q);
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
    const double accepted = 1.0 - miss(pair, drafts[i]);
    if (drafts[i] == 1) by_one = accepted;
    move_towards(acceptance_[i], accepted,
                 std::max(min_weight, 1.0 / static_cast<double>(++compared_[i] + params_.initial_weight)));
  }
  ++seen_;
  return by_one;
}

void AcceptanceEstimate::see_further(std::size_t position, std::size_t K, std::size_t going_on,
                                     const Distribution& p, const Distribution& q) {
  SPECTR_CHECK(position < positions);
  Misses& here = (K == 1 ? single_ : several_)[position];
  const double decay = params_.context_decay;
  here.seen = decay * here.seen + miss(DistributionPair(p, q), going_on);
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
  move_towards(distinct_[index_of(K)], static_cast<double>(nodes) / static_cast<double>(draws),
               params_.min_count_weight);
}

double AcceptanceEstimate::nodes(std::size_t K, std::size_t L) const {
  return static_cast<double>(K * L) * distinct_[index_of(K)];
}

double AcceptanceEstimate::first_acceptance(double k) const {
  // It is linear in log k between the numbers that were compared.
  const double x = std::log2(std::clamp(k, 1.0, static_cast<double>(drafts.back())));
  const auto left = std::min(static_cast<std::size_t>(x), drafts.size() - 2);
  const double share = x - static_cast<double>(left);
  return acceptance_[left] + share * (acceptance_[left + 1] - acceptance_[left]);
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
