#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "spectr/base/recycled.h"
#include "spectr/transport/independent_plan.h"

namespace spectr {

/// A plan that tests independent drafts one after another: X_i passes with probability test(i, X_i), the
/// first that passes is Y; if none does, Y is drawn from the residual law, which is the same for all drafts.
class SequentialPlan : public IndependentPlan {
 public:
  Selection select(std::span<const Token> drafts, Choices& choices) const final;
  double acceptance() const final { return acceptance_; }
  std::optional<Distribution> residual() const final;
  Distribution conditional(std::span<const Token> drafts) const final;

 protected:
  /// residual: nullopt where no mass is left for it; then Y ~ fallback, an event of the probability of a
  /// rounding error. fallback must outlive the plan. confirm: probability with which a draft that passes is
  /// kept; otherwise Y is drawn from the residual at once.
  SequentialPlan(DraftLaws laws, double acceptance, std::optional<Distribution> residual,
                 const Distribution& fallback, double confirm = 1.0)
      : IndependentPlan(std::move(laws)),
        acceptance_(acceptance),
        confirm_(confirm),
        residual_(std::move(residual)),
        fallback_(fallback) {}

 private:
  /// Probability that draft i (from 0) passes its test when it is x. O(1) or O(log support), of recursive
  /// rejection times i.
  virtual double test(std::size_t i, Token x) const = 0;

  const Distribution& rejected() const { return residual_ ? *residual_ : fallback_; }

  double acceptance_;
  double confirm_;
  std::optional<Distribution> residual_;
  const Distribution& fallback_;
};

/// The law proportional to weights, as laws.law() gives it (LawPair or LawUnion), nullopt where all are 0.
template <class Laws>
std::optional<Distribution> law_if_any(const Laws& laws, RecycledVector<double> weights) {
  for (double w : weights) {
    if (w > 0.0) return laws.law(std::move(weights));
  }
  return std::nullopt;
}

}  // namespace spectr
