#pragma once

#include <vector>

#include "spectr/base/choices.h"
#include "spectr/base/recycled.h"

namespace spectr {

/// Goes through every outcome of code that asks for its randomness through Choices.
///
///     Enumerator outcomes;
///     do {
///       distribution[plan.select(drafts, outcomes).token] += outcomes.probability();
///     } while (outcomes.next());
///
/// The probabilities of all outcomes sum to 1. Requires: the code is a function of its choices; one that asks
/// for other weights after the same choices is found out when an index of another weight comes up. Cost: one
/// run of the code per outcome.
class Enumerator final : public Choices {
 public:
  std::size_t draw(std::span<const double> weights) override;
  /// Goes through the sets rather than through the orders in which they can be drawn.
  RecycledVector<std::size_t> draw_set(std::span<const double> weights, std::size_t k) override;
  void enter(const Place&) override {}

  /// Probability of the outcome that has just been run.
  double probability() const;

  /// Moves on to the next outcome; false when all have been run.
  bool next();

 private:
  struct Branch {
    std::size_t index;  // taken in this run
    std::vector<double> weights;
    double total;  // Σ weights
  };
  std::vector<Branch> branches_;
  std::size_t depth_ = 0;
};

}  // namespace spectr
