#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "spectr/transport/math/distribution_union.h"
#include "spectr/transport/plans/independent_plan.h"

namespace spectr {

/// A plan of independent drafts with a single residual. It is computed at the first rejection, so that a plan
/// whose drafts pass does not pay for it.
class ResidualPlan : public IndependentPlan {
 public:
  std::optional<Distribution> residual() const final;

 protected:
  /// `target` is q, which must outlive the plan. `all` is the union of the drafts' distributions and q.
  ResidualPlan(DraftDistributions distributions, const Distribution& target, DistributionUnion all)
      : IndependentPlan(std::move(distributions)), target_(target), all_(std::move(all)) {}

  const Distribution& target() const { return target_; }
  const DistributionUnion& all() const { return all_; }

  /// Draws Y after a rejection. Cost: leftover() of all tokens on first use.
  Token draw_rejected(Choices& choices) const { return rejected().draw(choices); }

  /// Returns the distribution that draw_rejected() draws from.
  const Distribution& rejected() const;

 private:
  /// Computes the mass that the tests leave of q for the tokens of all() from `begin` on: q − a ≥ 0. The
  /// residual is proportional to it. If all are 0, Y ~ q; this has the probability of a rounding error.
  virtual void leftover(std::size_t begin, std::span<double> out) const = 0;

  const Distribution& target_;
  DistributionUnion all_;
  mutable std::optional<Distribution> rejected_;  // computed on first use; nullopt: q itself
  mutable bool known_ = false;
};

}  // namespace spectr
