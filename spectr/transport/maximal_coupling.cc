#include "spectr/transport/maximal_coupling.h"

#include <algorithm>
#include <utility>

#include "spectr/base/recycled.h"
#include "spectr/transport/distribution_pair.h"
#include "spectr/transport/overlap.h"
#include "spectr/transport/sequential_plan.h"

namespace spectr {
namespace {

class MaximalCoupling final : public SequentialPlan {
 public:
  MaximalCoupling(const DraftDistributions& p, const Distribution& q, double acceptance,
                  std::optional<Distribution> residual)
      : SequentialPlan(p, q, acceptance, std::move(residual)) {}

 private:
  double test(std::size_t i, Token, double p, double q) const override {
    return i == 0 ? std::min(1.0, q / p) : 0.0;
  }
};

}  // namespace

Result<std::unique_ptr<TransportPlan>> build_maximal(const DraftDistributions& p, const Distribution& q,
                                                     const PlanOptions&) {
  if (!p.equal()) return error("maximal: all {} drafts must come from one law", p.count());
  const DistributionPair distributions(p[0], q);
  RecycledVector<double> left(distributions.size());
  for (std::size_t j = 0; j < left.size(); ++j)
    left[j] = std::max(0.0, distributions.q()[j] - distributions.p()[j]);
  const double acceptance = overlap(distributions.p(), distributions.q(), 1.0).beta;
  return std::make_unique<MaximalCoupling>(p, q, acceptance,
                                           distribution_if_any(distributions, std::move(left)));
}

}  // namespace spectr
