#include "spectr/transport/plans/over_acceptance.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "spectr/base/numeric.h"
#include "spectr/transport/math/distribution_union.h"
#include "spectr/transport/plans/sequential_plan.h"

namespace spectr {
namespace {

/// Properties of the tests and the correction for one draft.
struct Outcome {
  double epsilon;
  double rejection;   // probability that the draft is rejected
  double bias;        // TV between the distribution of Y and q
  double least_bias;  // the smallest bias that a correction can reach
};

/// Returns b p: the mass with which a token is accepted.
double accepted_mass(double p, double q, double epsilon) {
  return std::min(p, std::max(0.0, q + epsilon));
}

class OverAcceptance final : public SequentialPlan {
 public:
  /// Computes the weight with which Y is drawn after a rejection, from q and b p.
  using Weight = double (*)(double q, double accepted);

  OverAcceptance(const DraftDistributions& p, const Distribution& q, DistributionUnion all,
                 const Outcome& outcome, Weight weight)
      : SequentialPlan(p, q, std::move(all), 1.0 - outcome.rejection), outcome_(outcome), weight_(weight) {}

  double bias() const override { return outcome_.bias; }
  PlanParameters parameters() const override {
    return {{"epsilon", outcome_.epsilon},
            {"bias", outcome_.bias},
            {"least_bias", outcome_.least_bias},
            {"rejection", outcome_.rejection}};
  }

 private:
  double test(std::size_t, Token, double p, double q) const override {
    return std::min(1.0, std::max(0.0, q + outcome_.epsilon) / p);
  }

  void leftover(std::size_t begin, std::span<double> out) const override {
    const double *const p = all().p(0).data() + begin, *const q = all().q().data() + begin;
    for (std::size_t j = 0; j < out.size(); ++j)
      out[j] = weight_(q[j], accepted_mass(p[j], q[j], outcome_.epsilon));
  }

  Outcome outcome_;
  Weight weight_;
};

Result<std::unique_ptr<TransportPlan>> build(std::string_view plan, const DraftDistributions& p,
                                             const Distribution& q, double epsilon,
                                             OverAcceptance::Weight weight) {
  if (p.count() != 1) return error("{} takes one draft, got k = {}", plan, p.count());
  if (!std::isfinite(epsilon)) return error("{}: epsilon must be a number, got {}", plan, epsilon);
  DistributionUnion all(p, q);
  Sum rejected, distance, total;
  for (std::size_t j = 0; j < all.size(); ++j) {
    const double pj = all.p(0)[j], qj = all.q()[j], accepted = accepted_mass(pj, qj, epsilon);
    rejected.add(pj - accepted);
    distance.add(std::abs(qj - accepted));
    total.add(weight(qj, accepted));
  }
  const double rejection = std::min(1.0, rejected.value());
  const double bias = sum_in_blocks(0, all.size(), [&](std::size_t j) {
    const double pj = all.p(0)[j], qj = all.q()[j], accepted = accepted_mass(pj, qj, epsilon);
    const double corrected = total.value() > 0.0 ? rejection * (weight(qj, accepted) / total.value()) : 0.0;
    return 0.5 * std::abs(accepted + corrected - qj);
  });
  const double least_bias = std::max(0.0, 0.5 * (distance.value() - rejection));
  const Outcome outcome{epsilon, rejection, bias, least_bias};
  return std::make_unique<OverAcceptance>(p, q, std::move(all), outcome, weight);
}

}  // namespace

Result<std::unique_ptr<TransportPlan>> build_epsilon_opt(const DraftDistributions& p, const Distribution& q,
                                                         const PlanOptions& options) {
  return build("epsilon-opt", p, q, options.epsilon,
               [](double q_j, double accepted) { return std::max(0.0, q_j - accepted); });
}

Result<std::unique_ptr<TransportPlan>> build_epsilon_uno(const DraftDistributions& p, const Distribution& q,
                                                         const PlanOptions& options) {
  return build("epsilon-uno", p, q, options.epsilon, [](double q_j, double) { return q_j; });
}

}  // namespace spectr
