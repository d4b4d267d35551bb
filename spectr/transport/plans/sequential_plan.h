#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "spectr/transport/plans/residual_plan.h"

namespace spectr {

/// A plan that tests independent drafts one after another. X_i passes with a probability that test() returns,
/// and the first draft that passes is Y. If none passes, Y is drawn from the residual distribution, which
/// does not depend on the drafts. A draft of probability 0 never passes.
class SequentialPlan : public ResidualPlan {
 public:
  Selection select(std::span<const Token> drafts, Choices& choices) const final;
  double acceptance() const final { return acceptance_; }
  Distribution conditional(std::span<const Token> drafts) const final;

 protected:
  /// `confirm` is the probability with which a draft that passes is kept; otherwise Y is drawn from the
  /// residual at once. For the other parameters see ResidualPlan.
  SequentialPlan(DraftDistributions distributions, const Distribution& target, DistributionUnion all,
                 double acceptance, double confirm = 1.0)
      : ResidualPlan(std::move(distributions), target, std::move(all)),
        acceptance_(acceptance),
        confirm_(confirm) {}

 private:
  /// Returns the probability that draft i, counted from 0, passes its test if it is x, which has probability
  /// p > 0 under its distribution and q under the target. O(1), or i lookups for recursive rejection.
  virtual double test(std::size_t i, Token x, double p, double q) const = 0;

  double passes(std::size_t i, Token x) const {
    const double p = distributions()[i][x];
    return p > 0.0 ? test(i, x, p, target()[x]) : 0.0;
  }
  double acceptance_;
  double confirm_;
};

}  // namespace spectr
