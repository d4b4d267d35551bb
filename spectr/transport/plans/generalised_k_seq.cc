#include "spectr/transport/plans/generalised_k_seq.h"

#include <algorithm>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/base/numeric.h"
#include "spectr/base/recycled.h"

namespace spectr {

namespace {

// Returns the mass of a token that draft i passes: min(p_i, α_i q) on Ω_i, p_i outside.
double passed(const GeneralisedTests& tests, std::size_t i, double p, double q) {
  const double mass = tested_mass(q);
  return tests.inside(i, p, mass) ? std::min(p, tests.alpha[i] * mass) : p;
}

}  // namespace

// a(x) = Σ_i u_{i−1} passed_i(x); u_i = u_{i−1} Σ (p_i − passed_i).
GeneralisedOutcome outcome(const DistributionUnion& distributions, const GeneralisedTests& tests) {
  SPECTR_CHECK(tests.drafts() == distributions.drafts());
  const auto q = distributions.q();
  RecycledVector<double> accepted(distributions.size(), 0.0);
  GeneralisedOutcome result{.u = {}, .excess = 1.0};
  double u = 1.0;
  for (std::size_t i = 0; i < distributions.drafts(); ++i) {
    const auto p = distributions.p(i);
    const double failed = sum_in_blocks(0, p.size(), [&](std::size_t j) {
      const double pass = passed(tests, i, p[j], q[j]);
      accepted[j] += u * pass;
      return p[j] - pass;
    });
    u *= std::min(failed, 1.0);
    result.u.push_back(u);
  }
  for (std::size_t j = 0; j < q.size(); ++j) {
    if (accepted[j] - q[j] > rounding_of_mass) result.excess = std::max(result.excess, accepted[j] / q[j]);
  }
  return result;
}

// Draft i fails with probability p − α_i q if p > bound_i q and p > α_i q. Between two neighbouring bounds
// a/q is non-decreasing in p/q, and above all bounds it is at most Σ u_{i−1} α_i.
GeneralisedOutcome outcome(RatioCuts& cuts, const GeneralisedTests& tests) {
  GeneralisedOutcome result{.u = {}, .excess = 1.0};
  double u = 1.0, most = 0.0, highest_bound = 0.0;
  for (std::size_t i = 0; i < tests.drafts(); ++i) {
    const Masses failed = cuts.at(std::max(tests.bound[i], tests.alpha[i])).above;
    most += u * tests.alpha[i];
    highest_bound = std::max(highest_bound, tests.bound[i]);
    u *= std::clamp(failed.p - tests.alpha[i] * failed.q, 0.0, 1.0);
    result.u.push_back(u);
  }
  if ((most - 1.0) * cuts.at(highest_bound).above.q > rounding_of_mass) result.excess = most;
  for (const double bound : tests.bound) {
    const RatioCut cut = cuts.at(bound);
    if (cut.highest < 0.0) continue;
    for (const auto [p, q] : cuts.tokens(cut.others)) {
      if (p > bound * q) continue;
      double accepted = 0.0;
      for (std::size_t i = 0; i < tests.drafts(); ++i) {
        accepted += (i == 0 ? 1.0 : result.u[i - 1]) * passed(tests, i, p, q);
      }
      if (accepted - q > rounding_of_mass) result.excess = std::max(result.excess, accepted / q);
    }
  }
  return result;
}

GeneralisedKSeq::GeneralisedKSeq(const DraftDistributions& p, const Distribution& q, DistributionUnion all,
                                 GeneralisedTests tests, GeneralisedOutcome outcome,
                                 PlanParameters parameters)
    : SequentialPlan(p, q, std::move(all), (1.0 - outcome.u.back()) / outcome.excess, 1.0 / outcome.excess),
      tests_(std::move(tests)),
      outcome_(std::move(outcome)),
      parameters_(std::move(parameters)) {}

// Computes q − a/s.
void GeneralisedKSeq::leftover(std::size_t begin, std::span<double> out) const {
  const double* const q = all().q().data() + begin;
  std::ranges::fill(out, 0.0);
  for (std::size_t i = 0; i < drafts(); ++i) {
    const double u = i == 0 ? 1.0 : outcome_.u[i - 1];
    const double* const p = all().p(i).data() + begin;
    for (std::size_t j = 0; j < out.size(); ++j) out[j] += u * passed(tests_, i, p[j], q[j]);
  }
  for (std::size_t j = 0; j < out.size(); ++j) out[j] = std::max(0.0, q[j] - out[j] / outcome_.excess);
}

double GeneralisedKSeq::test(std::size_t i, Token, double p, double q) const {
  const double mass = tested_mass(q);
  return tests_.inside(i, p, mass) ? std::min(1.0, tests_.alpha[i] * mass / p) : 1.0;
}

}  // namespace spectr
