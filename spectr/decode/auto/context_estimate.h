#pragma once

#include <array>
#include <cstddef>

#include "spectr/decode/auto/auto_params.h"
#include "spectr/decode/auto/cost_model.h"

namespace spectr {

/// Returns the level of a confidence in [0, 1]: the last of AutoParams::confidences that is not above it.
std::size_t confidence_level(double confidence);

/// A running estimate of a draft model's confidence in the contexts of a sequence, and of the target's
/// acceptance of its drafts at each level of confidence. It combines observations, with lower weights for
/// older ones, and a guess.
///
/// Levels with few observations use the guess, scaled by the ratio of the total observed acceptance to the
/// guess's prediction: a draft model that is confident but wrong is soon detected at all levels.
class ContextEstimate {
 public:
  static constexpr std::size_t levels = AutoParams::confidences.size();
  static constexpr std::size_t counts = AutoParams::drafts.size();
  using Guess = LearnedAcceptance;

  /// The guess has the weight of `weight` contexts. Each new context multiplies the weights of all earlier
  /// ones by `decay`.
  ContextEstimate(double weight, double decay) : weight_(weight), decay_(decay) {}

  /// Counts a context of this level.
  void see(std::size_t level);
  /// Records the plan's acceptance of AutoParams::drafts[i] drafts in the last counted context, which has
  /// this level and counts with `weight`.
  void see_accepted(std::size_t level, std::size_t i, double accepted, double weight = 1.0);

  /// Returns the estimated probabilities for a given guess.
  LearnedAcceptance estimate(const Guess& guess) const;

 private:
  /// A weighted sum of acceptances, and the sum of the weights.
  struct Sum {
    double accepted = 0.0;
    double weight = 0.0;
  };

  double weight_, decay_;
  std::array<double, levels> seen_ = {};
  std::array<std::array<Sum, counts>, levels> compared_ = {};
};

}  // namespace spectr
