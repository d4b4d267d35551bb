#include "spectr/decode/acceptance_estimate.h"

#include <algorithm>
#include <cmath>

#include "spectr/transport/division_factor.h"

namespace spectr {
namespace {

// Least weight of what is new. Acceptance differs much from context to context: of laws the last twenty that
// were looked at decide, of the rest the last dozen blocks.
constexpr double fresh_law = 0.05, fresh = 0.12;

// So many blocks are all looked at.
constexpr std::size_t first_blocks = 8;

void move_towards(double& estimate, double seen, double weight = fresh) {
  estimate += weight * (seen - estimate);
}

}  // namespace

bool AcceptanceEstimate::wants_laws() {
  constexpr auto period = static_cast<std::size_t>(1.0 / looks_per_block);
  const std::size_t block = blocks_++;
  return block < first_blocks || block % period == 0;
}

void AcceptanceEstimate::see_laws(const Distribution& p, const Distribution& q) {
  const LawPair laws(p, q);
  dense_ = p.is_dense() && q.is_dense();
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    // One draft takes one pass over the laws, several take many: once some contexts are known, they take
    // turns.
    const std::size_t others = drafts.size() - 1;
    const bool in_turn = i == 0 || seen_ < others || seen_ % others == i - 1;
    if (!in_turn) continue;
    const double least = i == 0 ? fresh_law : fresh_law * static_cast<double>(others);
    const Overlap tested = division_factor(laws, drafts[i]).overlaps.front();
    const double accepted = -std::expm1(static_cast<double>(drafts[i]) * log_miss(tested));
    // At first the mean of all, in which the guess counts as one context.
    move_towards(acceptance_[i], accepted, std::max(least, 1.0 / static_cast<double>(seen_ + 2)));
  }
  ++seen_;
}

void AcceptanceEstimate::see_survivors(std::size_t drawn, std::size_t survivors) {
  if (drawn < 2 || survivors < 1) return;
  move_towards(surviving_, static_cast<double>(survivors - 1) / static_cast<double>(drawn - 1));
}

void AcceptanceEstimate::see_merging(std::size_t draws, std::size_t nodes) {
  if (draws > 1) move_towards(distinct_, static_cast<double>(nodes) / static_cast<double>(draws));
}

double AcceptanceEstimate::acceptance(double k) const {
  // Linear in log k between the numbers that were looked at.
  const double x = std::log2(std::clamp(k, 1.0, static_cast<double>(drafts.back())));
  const auto left = std::min(static_cast<std::size_t>(x), drafts.size() - 2);
  const double share = x - static_cast<double>(left);
  return acceptance_[left] + share * (acceptance_[left + 1] - acceptance_[left]);
}

double AcceptanceEstimate::tokens(std::size_t K, std::size_t L) const {
  double tokens = 1.0, reached = 1.0, k = static_cast<double>(K);
  for (std::size_t depth = 0; depth < L; ++depth) {
    reached *= acceptance(k);
    tokens += reached;
    k = 1.0 + (k - 1.0) * surviving_;
  }
  return tokens;
}

}  // namespace spectr
