#include "spectr/transport/plans/k_seq.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "spectr/base/recycled.h"
#include "spectr/transport/math/distribution_union.h"
#include "spectr/transport/math/division_factor.h"
#include "spectr/transport/plans/sequential_plan.h"

namespace spectr {
namespace {

class KSeq final : public SequentialPlan {
 public:
  KSeq(const DraftDistributions& p, const Distribution& q, DistributionUnion all, Division division,
       double acceptance)
      : SequentialPlan(p, q, std::move(all), acceptance), division_(std::move(division)) {}

  PlanParameters parameters() const override {
    std::vector<double> beta;
    for (const Overlap& o : division_.overlaps) beta.push_back(o.beta);
    return {{"rho", division_.rho}, {"beta", beta}, {"passes", static_cast<double>(division_.passes)}};
  }

 private:
  double test(std::size_t, Token, double p, double q) const override {
    return std::min(1.0, q / division_.rho / p);
  }
  void leftover(std::size_t begin, std::span<double> out) const override;

  Division division_;
};

// Computes q − a, a = Σ_i R_i min(p_i, q/ρ), R_i = Π_{j<i} (1 − β_j); for equal p_i, Σ R_i = p_acc/β.
void KSeq::leftover(std::size_t begin, std::span<double> out) const {
  const double* const q = all().q().data() + begin;
  const double s = 1.0 / division_.rho;
  std::copy_n(q, out.size(), out.begin());
  const auto take = [&](std::size_t i, double reached) {
    const double* const p = all().p(i).data() + begin;
    for (std::size_t j = 0; j < out.size(); ++j) out[j] -= reached * std::min(p[j], q[j] * s);
  };
  if (distributions().equal()) {
    take(0, accepted_per_test(division_.overlaps.front(), drafts()));
  } else {
    double log_reached = 0.0;
    for (std::size_t i = 0; i < drafts(); ++i) {
      take(i, std::exp(log_reached));
      log_reached += log_miss(division_.overlaps[i]);
    }
  }
  for (double& w : out) w = std::max(w, 0.0);
}

double log_rejected(const Division& division, const DraftDistributions& p) {
  if (p.equal()) return static_cast<double>(p.count()) * log_miss(division.overlaps.front());
  double sum = 0.0;
  for (const Overlap& overlap : division.overlaps) sum += log_miss(overlap);
  return sum;
}

}  // namespace

Result<std::unique_ptr<TransportPlan>> build_k_seq(const DraftDistributions& p, const Distribution& q,
                                                   const PlanOptions&) {
  DistributionUnion all(p, q);
  Division division = smallest_division(p, all);
  const double acceptance = -std::expm1(log_rejected(division, p));
  return std::make_unique<KSeq>(p, q, std::move(all), std::move(division), acceptance);
}

}  // namespace spectr
