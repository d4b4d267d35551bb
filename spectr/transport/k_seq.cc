#include "spectr/transport/k_seq.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "spectr/base/recycled.h"
#include "spectr/transport/distribution_pair.h"
#include "spectr/transport/division_factor.h"
#include "spectr/transport/sequential_plan.h"

namespace spectr {
namespace {

class KSeq final : public SequentialPlan {
 public:
  KSeq(const DraftDistributions& p, const Distribution& q, Division division, double acceptance,
       std::optional<Distribution> residual)
      : SequentialPlan(p, q, acceptance, std::move(residual)), division_(std::move(division)) {}

  PlanParameters parameters() const override {
    std::vector<double> beta;
    for (const Overlap& o : division_.overlaps) beta.push_back(o.beta);
    return {{"rho", division_.rho}, {"beta", beta}, {"passes", static_cast<double>(division_.passes)}};
  }

 private:
  double test(std::size_t, Token, double p, double q) const override {
    return std::min(1.0, q / division_.rho / p);
  }

  Division division_;
};

std::unique_ptr<TransportPlan> of_one_distribution(const DraftDistributions& p, const Distribution& q) {
  const DistributionPair distributions(p[0], q);
  const std::size_t k = p.count();
  Division division = division_factor(distributions, k);
  const Overlap o = division.overlaps.front();
  const double per_test = accepted_per_test(o, k), s = 1.0 / division.rho;
  RecycledVector<double> left(distributions.size());
  for (std::size_t j = 0; j < left.size(); ++j) {
    left[j] = std::max(
        0.0, distributions.q()[j] - std::min(distributions.p()[j], distributions.q()[j] * s) * per_test);
  }
  const double acceptance = -std::expm1(static_cast<double>(k) * log_miss(o));
  return std::make_unique<KSeq>(p, q, std::move(division), acceptance,
                                distribution_if_any(distributions, std::move(left)));
}

std::unique_ptr<TransportPlan> of_several_distributions(const DraftDistributions& p, const Distribution& q) {
  const DistributionUnion distributions(p, q);
  Division division = division_factor(distributions);
  RecycledVector<double> left(distributions.q().begin(), distributions.q().end());
  double log_rejected = 0.0;
  for (std::size_t i = 0; i < p.count(); ++i) {
    const double reached = std::exp(log_rejected);
    for (std::size_t j = 0; j < left.size(); ++j) {
      left[j] -= reached * std::min(distributions.p(i)[j], distributions.q()[j] / division.rho);
    }
    log_rejected += log_miss(division.overlaps[i]);
  }
  for (double& w : left) w = std::max(w, 0.0);
  return std::make_unique<KSeq>(p, q, std::move(division), -std::expm1(log_rejected),
                                distribution_if_any(distributions, std::move(left)));
}

}  // namespace

Result<std::unique_ptr<TransportPlan>> build_k_seq(const DraftDistributions& p, const Distribution& q,
                                                   const PlanOptions&) {
  return p.equal() ? of_one_distribution(p, q) : of_several_distributions(p, q);
}

}  // namespace spectr
