#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "spectr/transport/math/distribution_union.h"
#include "spectr/transport/plans/independent_plan.h"

namespace spectr {

/// A plan of independent drafts with one residual for all of them, which is computed at the first rejection,
/// so that a plan whose drafts pass has not paid for it.
class ResidualPlan : public IndependentPlan {
 public:
  std::optional<Distribution> residual() const final;

 protected:
  /// target: the distribution q, which must outlive the plan. all: the drafts' distributions and q.
  ResidualPlan(DraftDistributions distributions, const Distribution& target, DistributionUnion all)
      : IndependentPlan(std::move(distributions)), target_(target), all_(std::move(all)) {}

  const Distribution& target() const { return target_; }
  const DistributionUnion& all() const { return all_; }

  /// Draws Y after a rejection. Cost: the first time leftover() of all tokens.
  Token draw_rejected(Choices& choices) const { return rejected().draw(choices); }

  /// The distribution that draw_rejected() draws from.
  const Distribution& rejected() const;

 private:
  /// What the tests leave of q at the tokens of all() from `begin` on: q − a ≥ 0, to which the residual is
  /// proportional. Where it is 0 for all tokens Y ~ q, an event of the probability of a rounding error.
  virtual void leftover(std::size_t begin, std::span<double> out) const = 0;

  const Distribution& target_;
  DistributionUnion all_;
  mutable std::optional<Distribution> rejected_;  // once it was asked for; none: nothing was left but q
  mutable bool known_ = false;
};

}  // namespace spectr
