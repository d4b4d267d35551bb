#include "spectr/decode/acceptance_estimate.h"

#include <algorithm>
#include <cmath>

#include "spectr/base/check.h"
#include "spectr/transport/division_factor.h"

namespace spectr {
namespace {

// Least weight of what is new. Acceptance differs much from context to context: of laws the last thirty that
// were looked at decide (behind the first position sixty), of the rest the last dozen blocks.
constexpr double fresh_law = 0.03, fresh = 0.12;
// What is left of the weight of a context behind the first position at every later one.
constexpr double kept = 1.0 - 1.0 / 64.0;

// The first guess weighs as much as so many contexts: laws tell what is accepted exactly, and texts are
// short.
constexpr std::size_t guessed = 1;

// So many blocks are all looked at, for every number of drafts.
constexpr std::size_t first_blocks = 8;

void move_towards(double& estimate, double seen, double weight = fresh) {
  estimate += weight * (seen - estimate);
}

/// What k-Seq misses of laws with k drafts.
double miss(const LawPair& laws, std::size_t k) {
  return std::exp(static_cast<double>(k) * log_miss(division_factor(laws, k).overlaps.front()));
}

/// Where K stands among the numbers of drafts.
std::size_t number_of(std::size_t K) {
  const auto at = std::ranges::find(AcceptanceEstimate::drafts, K);
  SPECTR_CHECK(at != AcceptanceEstimate::drafts.end());
  return static_cast<std::size_t>(at - AcceptanceEstimate::drafts.begin());
}

}  // namespace

bool AcceptanceEstimate::wants_laws() {
  constexpr auto period = static_cast<std::size_t>(1.0 / looks_per_block);
  const std::size_t block = blocks_++;
  return block < first_blocks || block % period == 0;
}

double AcceptanceEstimate::see_first(const Distribution& p, const Distribution& q) {
  const LawPair laws(p, q);
  double by_one = 0.0;
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    // One draft takes one pass over the laws, several take many: once some contexts are known, they take
    // turns.
    const std::size_t others = drafts.size() - 1;
    const bool in_turn = i == 0 || seen_ < first_blocks || seen_ % others == i - 1;
    if (!in_turn) continue;
    const double least = i == 0 ? fresh_law : fresh_law * static_cast<double>(others);
    // At first the mean of all, the guess among them.
    const double accepted = 1.0 - miss(laws, drafts[i]);
    if (drafts[i] == 1) by_one = accepted;
    move_towards(acceptance_[i], accepted,
                 std::max(least, 1.0 / static_cast<double>(++looked_[i] + guessed)));
  }
  ++seen_;
  return by_one;
}

void AcceptanceEstimate::see_further(std::size_t position, std::size_t K, std::size_t going_on,
                                     const Distribution& p, const Distribution& q) {
  SPECTR_CHECK(position < positions);
  Misses& here = (K == 1 ? single_ : several_)[position];
  here.seen = kept * here.seen + miss(LawPair(p, q), going_on);
  here.expected = kept * here.expected + expected_miss(K, position);
  here.contexts = kept * here.contexts + 1.0;
  here.doubt *= kept;
}

void AcceptanceEstimate::see_survivors(std::size_t drawn, std::size_t survivors) {
  if (drawn < 2 || survivors < 1) return;
  move_towards(surviving_, static_cast<double>(survivors - 1) / static_cast<double>(drawn - 1));
}

void AcceptanceEstimate::see_merging(std::size_t K, std::size_t draws, std::size_t nodes) {
  if (K > 1) move_towards(distinct_[number_of(K)], static_cast<double>(nodes) / static_cast<double>(draws));
}

double AcceptanceEstimate::nodes(std::size_t K, std::size_t L) const {
  return static_cast<double>(K * L) * distinct_[number_of(K)];
}

double AcceptanceEstimate::first_acceptance(double k) const {
  // Linear in log k between the numbers that were looked at.
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
  double ratio = 1.0;  // of what is missed to what is expected
  for (std::size_t i = 0; i < positions; ++i) {
    const auto& [seen, expected, contexts, doubt] = (K == 1 ? single_ : several_)[i];
    if (expected > 0.0) {
      const double guess = doubt * expected / contexts;
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
