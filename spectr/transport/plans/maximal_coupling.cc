#include "spectr/transport/plans/maximal_coupling.h"

#include <algorithm>
#include <utility>

#include "spectr/transport/math/distribution_union.h"
#include "spectr/transport/math/overlap.h"
#include "spectr/transport/plans/sequential_plan.h"

namespace spectr {
namespace {

class MaximalCoupling final : public SequentialPlan {
 public:
  MaximalCoupling(const DraftDistributions& p, const Distribution& q, DistributionUnion all,
                  double acceptance)
      : SequentialPlan(p, q, std::move(all), acceptance) {}

 private:
  double test(std::size_t i, Token, double p, double q) const override {
    return i == 0 ? std::min(1.0, q / p) : 0.0;
  }
  void leftover(std::size_t begin, std::span<double> out) const override {
    const double *const p = all().p(0).data() + begin, *const q = all().q().data() + begin;
    for (std::size_t j = 0; j < out.size(); ++j) out[j] = std::max(0.0, q[j] - p[j]);
  }
};

}  // namespace

Result<std::unique_ptr<TransportPlan>> build_maximal(const DraftDistributions& p, const Distribution& q,
                                                     const PlanOptions&) {
  if (!p.equal()) return error("maximal: all {} drafts must come from one law", p.count());
  DistributionUnion all(p, q);
  const double acceptance = overlap(all.p(0), all.q(), 1.0).beta;
  return std::make_unique<MaximalCoupling>(p, q, std::move(all), acceptance);
}

}  // namespace spectr
