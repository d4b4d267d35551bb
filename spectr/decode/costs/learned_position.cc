#include "spectr/decode/costs/learned_position.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace spectr {
namespace {

/// Returns P(at least one of k drafts survives), linear in log k.
double accepted_of(const LearnedPosition& learned, std::size_t k) {
  const auto& accepted = learned.accepted;
  const std::size_t left = std::min(static_cast<std::size_t>(std::bit_width(k)) - 1, accepted.size() - 2);
  const double share = std::log2(static_cast<double>(k)) - static_cast<double>(left);
  return std::min(1.0, std::lerp(accepted[left], accepted[left + 1], share));
}

}  // namespace

LearnedPosition learned_from(const DraftedPosition& position) {
  LearnedPosition learned = {.confidence = position.confidence, .merging = position.merging};
  for (std::size_t i = 0; i < LearnedPosition::drafts.size(); ++i)
    learned.accepted[i] = position.survivors.any(LearnedPosition::drafts[i]);
  return learned;
}

DraftedPosition position_of(const LearnedPosition& learned) {
  DraftedPosition position = {learned.confidence, learned.merging, {}};
  for (std::size_t k = 1; k <= Survivors::max_drafts; ++k) {
    double binomial = accepted_of(learned, k);
    for (std::size_t n = 1; n <= k; ++n) {
      position.survivors(k, n) = binomial * std::pow(learned.merging, static_cast<double>(n - 1)) *
                                 std::pow(1.0 - learned.merging, static_cast<double>(k - n));
      binomial *= static_cast<double>(k - n) / static_cast<double>(n);
    }
  }
  return position;
}

std::vector<LearnedPosition> guessed_positions() {
  constexpr std::size_t count = 32;
  constexpr double golden_ratio = 0.6180339887498949;
  std::vector<LearnedPosition> positions(count);
  for (std::size_t j = 0; j < count; ++j) {
    const double u = std::fmod((static_cast<double>(j) + 0.5) * golden_ratio, 1.0);  // spread evenly
    LearnedPosition& position = positions[j];
    position.confidence = 1.0 - 0.85 * std::pow(1.0 - u, 2.5);
    position.merging = position.confidence * position.confidence;
    for (std::size_t i = 0; i < LearnedPosition::drafts.size(); ++i) {
      const double misses = 0.75 * (1.0 - position.confidence) + 0.03;
      position.accepted[i] = 1.0 - misses * std::pow(static_cast<double>(LearnedPosition::drafts[i]), -0.45);
    }
  }
  return positions;
}

}  // namespace spectr
