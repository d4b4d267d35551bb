#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "spectr/transport/distribution_union.h"
#include "spectr/transport/independent_plan.h"

namespace spectr {

/// A plan that tests independent drafts one after another: X_i passes with a probability that test() gives,
/// the first that passes is Y; if none does, Y is drawn from the residual distribution, which is the same for
/// all drafts. A draft of probability 0 never passes.
///
/// The residual is never stored: leftover() gives its weights, and a rejection draws from them as they are
/// computed, so that a plan whose drafts pass has not paid for it.
class SequentialPlan : public IndependentPlan {
 public:
  Selection select(std::span<const Token> drafts, Choices& choices) const final;
  double acceptance() const final { return acceptance_; }
  std::optional<Distribution> residual() const final;
  Distribution conditional(std::span<const Token> drafts) const final;

 protected:
  /// target: the distribution q, which must outlive the plan. all: the drafts' distributions and q.
  /// confirm: probability with which a draft that passes is kept; otherwise Y is drawn from the residual at
  /// once.
  SequentialPlan(DraftDistributions distributions, const Distribution& target, DistributionUnion all,
                 double acceptance, double confirm = 1.0)
      : IndependentPlan(std::move(distributions)),
        target_(target),
        all_(std::move(all)),
        acceptance_(acceptance),
        confirm_(confirm) {}

  const DistributionUnion& all() const { return all_; }

 private:
  /// Probability that draft i (from 0) passes its test when it is x, which has probability p > 0 under the
  /// draft's distribution and q under the target. O(1), of recursive rejection i look-ups.
  virtual double test(std::size_t i, Token x, double p, double q) const = 0;

  /// What the tests leave of q at the tokens of all() from `begin` on: q − a ≥ 0, to which the residual is
  /// proportional. Where it is 0 for all tokens Y ~ q, an event of the probability of a rounding error.
  virtual void leftover(std::size_t begin, std::span<double> out) const = 0;

  double passes(std::size_t i, Token x) const {
    const double p = distributions()[i][x];
    return p > 0.0 ? test(i, x, p, target_[x]) : 0.0;
  }
  Token draw_rejected(Choices& choices) const;
  /// Nullopt where nothing is left.
  std::optional<Distribution> rejected() const;
  double mass_left(std::size_t begin, std::size_t end) const;

  const Distribution& target_;
  DistributionUnion all_;
  double acceptance_;
  double confirm_;
};

}  // namespace spectr
