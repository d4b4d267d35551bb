#include "spectr/transport/recursive_rejection.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "spectr/base/numeric.h"
#include "spectr/base/recycled.h"
#include "spectr/transport/distribution_union.h"
#include "spectr/transport/sequential_plan.h"

namespace spectr {
namespace {

class RecursiveRejection final : public SequentialPlan {
 public:
  RecursiveRejection(const DraftDistributions& p, const Distribution& q, RecycledVector<double> rejected,
                     std::optional<Distribution> residual)
      : SequentialPlan(p, q, 1.0 - rejected.back(), std::move(residual)), rejected_(std::move(rejected)) {}

  PlanParameters parameters() const override {
    return {{"rejected", std::vector<double>(rejected_.begin() + 1, rejected_.end())}};
  }

 private:
  double test(std::size_t i, Token x, double p, double q) const override {
    if (!(rejected_[i] > 0.0)) return 0.0;
    double left = q;
    for (std::size_t j = 0; j < i; ++j) left = std::max(0.0, left - rejected_[j] * distributions()[j][x]);
    return std::min(1.0, left / rejected_[i] / p);
  }

  RecycledVector<double> rejected_;  // D_0 … D_k
};

}  // namespace

Result<std::unique_ptr<TransportPlan>> build_recursive(const DraftDistributions& p, const Distribution& q,
                                                       const PlanOptions&) {
  const DistributionUnion distributions(p, q);
  RecycledVector<double> left(distributions.q().begin(), distributions.q().end());
  RecycledVector<double> rejected(p.count() + 1, 0.0);
  rejected[0] = 1.0;
  for (std::size_t m = 0; m < p.count(); ++m) {
    const auto row = distributions.p(m);
    const double sum = sum_in_blocks(0, left.size(), [&](std::size_t j) {
      return left[j] = std::max(0.0, left[j] - rejected[m] * row[j]);
    });
    rejected[m + 1] = std::min(sum, rejected[m]);
  }
  return std::make_unique<RecursiveRejection>(p, q, std::move(rejected),
                                              distribution_if_any(distributions, std::move(left)));
}

}  // namespace spectr
