#pragma once

#include <vector>

#include "spectr/transport/math/distribution_union.h"
#include "spectr/transport/math/ratio_cuts.h"
#include "spectr/transport/plans/sequential_plan.h"

namespace spectr {

/// Target masses up to this are treated as rounding errors of products.
inline constexpr double rounding_of_mass = 1e-18;

/// Returns q as the tests see it. A token with a negligible mass is always rejected by the tests and comes
/// only from the residual, which costs no more acceptance than its mass.
constexpr double tested_mass(double q) {
  return q > rounding_of_mass ? q : 0.0;
}

/// The tests of generalised k-Seq: draft i is accepted with probability α_i q/p_i on Ω_i and with probability
/// 1 outside, where q denotes tested_mass(q). Ω_i = {x : p_i(x) > bound_i q(x)} is an upper set of p_i/q that
/// contains every draft with q = 0.
struct GeneralisedTests {
  std::vector<double> alpha;  ///< α₁ … α_k ≥ 0
  std::vector<double> bound;  ///< ≥ 0, finite

  std::size_t drafts() const { return alpha.size(); }
  bool inside(std::size_t i, double p, double q) const { return p > bound[i] * q; }
};

/// The effect of given tests on given distributions.
struct GeneralisedOutcome {
  std::vector<double> u;  ///< u_i = probability that the first i drafts are rejected; u[0] is u₁
  double excess;          ///< s = max(1, max a/q): the largest factor by which the tests exceed q
};

/// Computes the outcome in one pass over the distributions per draft. Requires: as many tests as drafts.
GeneralisedOutcome outcome(const DistributionUnion& distributions, const GeneralisedTests& tests);

/// Computes the outcome for drafts of one distribution p. Requires: `cuts` of p and q with floor
/// rounding_of_mass; bounds > 0. Cost: at most 2k cuts.
GeneralisedOutcome outcome(RatioCuts& cuts, const GeneralisedTests& tests);

/// Generalised k-Seq (SpecTr++, Ahn, Beirami, Sun, Suresh, 2023). Valid for any tests: a draft that passes is
/// confirmed with probability 1/s, and the residual is computed from the distribution that is actually
/// accepted. Rounding in the tests therefore costs acceptance, (1 − u_k)/s, but never exactness.
class GeneralisedKSeq final : public SequentialPlan {
 public:
  GeneralisedKSeq(const DraftDistributions& p, const Distribution& q, DistributionUnion all,
                  GeneralisedTests tests, GeneralisedOutcome outcome, PlanParameters parameters);

  PlanParameters parameters() const override { return parameters_; }

 private:
  double test(std::size_t i, Token x, double p, double q) const override;
  void leftover(std::size_t begin, std::span<double> out) const override;

  GeneralisedTests tests_;
  GeneralisedOutcome outcome_;
  PlanParameters parameters_;
};

}  // namespace spectr
