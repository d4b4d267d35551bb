#pragma once

#include <vector>

#include "spectr/base/choices.h"
#include "spectr/base/recycled.h"

namespace spectr {

/// Enumerates every outcome of code that takes its randomness from Choices.
///
///     Enumerator outcomes;
///     do {
///       distribution[plan.select(drafts, outcomes).token] += outcomes.probability();
///     } while (outcomes.next());
///
/// The probabilities of all outcomes sum to 1. Requires: the code is a function of its choices. Code that
/// passes different weights after the same choices is detected when it draws an index whose weight has
/// changed. Cost: one run of the code per outcome.
class Enumerator final : public Choices {
 public:
  std::size_t draw(std::span<const double> weights) override;
  /// Enumerates the sets rather than the orders in which they can be drawn.
  RecycledVector<std::size_t> draw_set(std::span<const double> weights, std::size_t k) override;
  void enter(const Place&) override {}

  /// Returns the probability of the outcome of the run that has just ended.
  double probability() const;

  /// Advances to the next outcome. Returns false if all outcomes have been run.
  bool next();

 private:
  struct Branch {
    std::size_t index;  // chosen in this run
    std::vector<double> weights;
    double total;  // Σ weights
  };
  std::vector<Branch> branches_;
  std::size_t depth_ = 0;
};

}  // namespace spectr
