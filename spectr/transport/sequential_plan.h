#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "spectr/base/recycled.h"
#include "spectr/transport/independent_plan.h"

namespace spectr {

/// A plan that tests independent drafts one after another: X_i passes with a probability that test() gives,
/// the first that passes is Y; if none does, Y is drawn from the residual distribution, which is the same for
/// all drafts. A draft of probability 0 never passes.
class SequentialPlan : public IndependentPlan {
 public:
  Selection select(std::span<const Token> drafts, Choices& choices) const final;
  double acceptance() const final { return acceptance_; }
  std::optional<Distribution> residual() const final;
  Distribution conditional(std::span<const Token> drafts) const final;

 protected:
  /// target: the distribution q, which must outlive the plan. residual: nullopt where no mass is left for it;
  /// then Y ~ q, an event of the probability of a rounding error. confirm: probability with which a draft
  /// that passes is kept; otherwise Y is drawn from the residual at once.
  SequentialPlan(DraftDistributions distributions, const Distribution& target, double acceptance,
                 std::optional<Distribution> residual, double confirm = 1.0)
      : IndependentPlan(std::move(distributions)),
        target_(target),
        acceptance_(acceptance),
        confirm_(confirm),
        residual_(std::move(residual)) {}

 private:
  /// Probability that draft i (from 0) passes its test when it is x, which has probability p > 0 under the
  /// draft's distribution and q under the target. O(1), of recursive rejection i look-ups.
  virtual double test(std::size_t i, Token x, double p, double q) const = 0;

  double passes(std::size_t i, Token x) const {
    const double p = distributions()[i][x];
    return p > 0.0 ? test(i, x, p, target_[x]) : 0.0;
  }
  const Distribution& rejected() const { return residual_ ? *residual_ : target_; }

  const Distribution& target_;
  double acceptance_;
  double confirm_;
  std::optional<Distribution> residual_;
};

/// The distribution proportional to weights, as distributions.distribution() gives it (DistributionPair or
/// DistributionUnion), nullopt where all are 0.
template <class Distributions>
std::optional<Distribution> distribution_if_any(const Distributions& distributions,
                                                RecycledVector<double> weights) {
  for (double w : weights) {
    if (w > 0.0) return distributions.distribution(std::move(weights));
  }
  return std::nullopt;
}

}  // namespace spectr
