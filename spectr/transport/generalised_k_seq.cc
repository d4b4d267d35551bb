#include "spectr/transport/generalised_k_seq.h"

#include <algorithm>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/base/numeric.h"
#include "spectr/base/recycled.h"

namespace spectr {

// a(x) = Σ_i u_{i−1} min(p_i, α_i q) on Ω_i, p_i outside; u_i = u_{i−1} Σ_{Ω_i} (p_i − α_i q)₊.
GeneralisedOutcome outcome(const DistributionUnion& distributions, const GeneralisedTests& tests) {
  SPECTR_CHECK(tests.drafts() == distributions.drafts());
  const auto q = distributions.q();
  RecycledVector<double> accepted(distributions.size(), 0.0);
  GeneralisedOutcome result{.u = {}, .residual = {}, .excess = 1.0};
  double u = 1.0;
  for (std::size_t i = 0; i < distributions.drafts(); ++i) {
    const auto p = distributions.p(i);
    const double alpha = tests.alpha[i];
    const double failed = sum_in_blocks(0, p.size(), [&](std::size_t j) {
      const double mass = tested_mass(q[j]);
      const double passed = tests.inside(i, p[j], mass) ? std::min(p[j], alpha * mass) : p[j];
      accepted[j] += u * passed;
      return p[j] - passed;
    });
    u *= std::min(failed, 1.0);
    result.u.push_back(u);
  }
  for (std::size_t j = 0; j < q.size(); ++j) {
    if (accepted[j] - q[j] > rounding_of_mass) result.excess = std::max(result.excess, accepted[j] / q[j]);
  }
  for (std::size_t j = 0; j < q.size(); ++j) accepted[j] = std::max(0.0, q[j] - accepted[j] / result.excess);
  result.residual = std::move(accepted);
  return result;
}

GeneralisedKSeq::GeneralisedKSeq(const DraftDistributions& p, const Distribution& q,
                                 const DistributionUnion& distributions, GeneralisedTests tests,
                                 GeneralisedOutcome outcome, PlanParameters parameters)
    : SequentialPlan(p, q, (1.0 - outcome.u.back()) / outcome.excess,
                     distribution_if_any(distributions, std::move(outcome.residual)), 1.0 / outcome.excess),
      tests_(std::move(tests)),
      parameters_(std::move(parameters)) {}

double GeneralisedKSeq::test(std::size_t i, Token, double p, double q) const {
  const double mass = tested_mass(q);
  return tests_.inside(i, p, mass) ? std::min(1.0, tests_.alpha[i] * mass / p) : 1.0;
}

}  // namespace spectr
