#pragma once

#include <array>
#include <cstddef>

#include "spectr/decode/auto/auto_params.h"
#include "spectr/decode/auto/cost_model.h"

namespace spectr {

/// The level of a confidence in [0, 1]: the last of AutoParams::confidences that is not above it.
std::size_t confidence_level(double confidence);

/// A running estimate of how confident a draft model is in the contexts of a sequence, and of what the target
/// accepts of its drafts at each level of confidence: of what was seen, old contexts with less weight, and of
/// a guess.
///
/// At a level of which little was seen the guess counts, times what was accepted in all beside what the guess
/// had expected there: a draft model that is sure of itself and wrong is soon found out at all levels.
class ContextEstimate {
 public:
  static constexpr std::size_t levels = AutoParams::confidences.size();
  static constexpr std::size_t counts = AutoParams::drafts.size();
  using Guess = LearnedAcceptance;

  /// The guess has the weight of so many contexts; of the weights of all contexts, `decay` is left when
  /// another is seen.
  ContextEstimate(double weight, double decay) : weight_(weight), decay_(decay) {}

  /// Counts a context of that level.
  void see(std::size_t level);
  /// The plan accepts so much of AutoParams::drafts[i] drafts in a context of that level, which was seen last
  /// and counts with `weight`.
  void see_accepted(std::size_t level, std::size_t i, double accepted, double weight = 1.0);

  /// What is estimated, where that is the guess: probabilities.
  LearnedAcceptance estimate(const Guess& guess) const;

 private:
  /// A sum of what was accepted, and the weight of the contexts that it is of.
  struct Sum {
    double accepted = 0.0;
    double weight = 0.0;
  };

  double weight_, decay_;
  std::array<double, levels> seen_ = {};
  std::array<std::array<Sum, counts>, levels> compared_ = {};
};

}  // namespace spectr
