#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "spectr/transport/plans/residual_plan.h"

namespace spectr {

/// A plan that tests independent drafts one after another: X_i passes with a probability that test() gives,
/// the first that passes is Y; if none does, Y is drawn from the residual distribution, which is the same for
/// all drafts. A draft of probability 0 never passes.
class SequentialPlan : public ResidualPlan {
 public:
  Selection select(std::span<const Token> drafts, Choices& choices) const final;
  double acceptance() const final { return acceptance_; }
  Distribution conditional(std::span<const Token> drafts) const final;

 protected:
  /// confirm: probability with which a draft that passes is kept; otherwise Y is drawn from the residual at
  /// once. The others: as of ResidualPlan.
  SequentialPlan(DraftDistributions distributions, const Distribution& target, DistributionUnion all,
                 double acceptance, double confirm = 1.0)
      : ResidualPlan(std::move(distributions), target, std::move(all)),
        acceptance_(acceptance),
        confirm_(confirm) {}

 private:
  /// Probability that draft i (from 0) passes its test when it is x, which has probability p > 0 under the
  /// draft's distribution and q under the target. O(1), of recursive rejection i look-ups.
  virtual double test(std::size_t i, Token x, double p, double q) const = 0;

  double passes(std::size_t i, Token x) const {
    const double p = distributions()[i][x];
    return p > 0.0 ? test(i, x, p, target()[x]) : 0.0;
  }
  double acceptance_;
  double confirm_;
};

}  // namespace spectr
