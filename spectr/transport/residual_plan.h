#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "spectr/transport/distribution_union.h"
#include "spectr/transport/independent_plan.h"

namespace spectr {

/// A plan of independent drafts with one residual for all of them, which is never stored: leftover() gives
/// its weights, and a rejection draws from them as they are computed, so that a plan whose drafts pass has
/// not paid for it.
class ResidualPlan : public IndependentPlan {
 public:
  std::optional<Distribution> residual() const final;

 protected:
  /// target: the distribution q, which must outlive the plan. all: the drafts' distributions and q.
  ResidualPlan(DraftDistributions distributions, const Distribution& target, DistributionUnion all)
      : IndependentPlan(std::move(distributions)), target_(target), all_(std::move(all)) {}

  const Distribution& target() const { return target_; }
  const DistributionUnion& all() const { return all_; }

  /// Draws Y after a rejection. Allocates nothing. Cost: leftover() of all tokens.
  Token draw_rejected(Choices& choices) const;

  /// The distribution that draw_rejected() draws from.
  Distribution rejected() const;

 private:
  /// What the tests leave of q at the tokens of all() from `begin` on: q − a ≥ 0, to which the residual is
  /// proportional. Where it is 0 for all tokens Y ~ q, an event of the probability of a rounding error.
  virtual void leftover(std::size_t begin, std::span<double> out) const = 0;

  double mass_left(std::size_t begin, std::size_t end) const;
  bool is_anything_left() const;

  const Distribution& target_;
  DistributionUnion all_;
};

}  // namespace spectr
