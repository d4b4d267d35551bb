#include "spectr/decode/auto/context_estimate.h"

#include <algorithm>
#include <numeric>

namespace spectr {
namespace {

/// Weight of the guess at each level, in contexts.
constexpr double level_weight = 1.0;

}  // namespace

std::size_t confidence_level(double confidence) {
  constexpr auto& bounds = AutoParams::confidences;
  const auto above = std::upper_bound(bounds.begin() + 1, bounds.end(), confidence);
  return static_cast<std::size_t>(above - bounds.begin()) - 1;
}

void ContextEstimate::see(std::size_t level) {
  weight_ *= decay_;
  for (double& seen : seen_) seen *= decay_;
  for (auto& sums : compared_) {
    for (Sum& sum : sums) sum = {sum.accepted * decay_, sum.weight * decay_};
  }
  seen_[level] += 1.0;
}

void ContextEstimate::see_accepted(std::size_t level, std::size_t i, double accepted, double weight) {
  Sum& sum = compared_[level][i];
  sum.accepted += weight * accepted;
  sum.weight += weight;
}

LearnedAcceptance ContextEstimate::estimate(const Guess& guess) const {
  LearnedAcceptance estimate;
  const double seen = std::accumulate(seen_.begin(), seen_.end(), 0.0);
  for (std::size_t b = 0; b < levels; ++b)
    estimate.confidences[b] = (seen_[b] + weight_ * guess.confidences[b]) / (seen + weight_);
  for (std::size_t i = 0; i < counts; ++i) {
    double accepted = 0.0, expected = 0.0;
    for (std::size_t b = 0; b < levels; ++b) {
      const double guessed = weight_ * guess.confidences[b] * guess.accepted[b][i];
      accepted += compared_[b][i].accepted + guessed;
      expected += compared_[b][i].weight * guess.accepted[b][i] + guessed;
    }
    const double ratio = expected > 0.0 ? accepted / expected : 1.0;
    for (std::size_t b = 0; b < levels; ++b) {
      const Sum& sum = compared_[b][i];
      const double guessed = std::min(1.0, ratio * guess.accepted[b][i]);
      estimate.accepted[b][i] = (sum.accepted + level_weight * guessed) / (sum.weight + level_weight);
    }
  }
  return estimate;
}

}  // namespace spectr
