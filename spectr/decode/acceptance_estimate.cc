#include "spectr/decode/acceptance_estimate.h"

#include <algorithm>
#include <cmath>

#include "spectr/transport/k_seq.h"

namespace spectr {
namespace {

// Weight of what is new: the last dozen blocks decide.
constexpr double fresh = 0.12;

void move_towards(double& estimate, double seen) {
  estimate += fresh * (seen - estimate);
}

}  // namespace

Result<void> AcceptanceEstimate::see_laws(const Distribution& p, const Distribution& q) {
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    SPECTR_TRY(const auto plan, build_k_seq(DraftLaws(p, drafts[i]), q, {}));
    if (!seen_) {
      // The first look counts half: a guess is worth less than one context.
      acceptance_[i] = 0.5 * (acceptance_[i] + plan->acceptance());
    } else {
      move_towards(acceptance_[i], plan->acceptance());
    }
  }
  seen_ = true;
  return {};
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
