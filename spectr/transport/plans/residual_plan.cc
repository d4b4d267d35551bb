#include "spectr/transport/plans/residual_plan.h"

#include "spectr/base/numeric.h"
#include "spectr/base/recycled.h"

namespace spectr {

const Distribution& ResidualPlan::rejected() const {
  if (!known_) {
    RecycledVector<double> weights(all_.size());
    leftover(0, weights);
    if (sum_of(weights) > 0.0) rejected_ = all_.distribution(std::move(weights));
    known_ = true;
  }
  return rejected_ ? *rejected_ : target_;
}

std::optional<Distribution> ResidualPlan::residual() const {
  if (1.0 - acceptance() < rounding_of_rejection) return std::nullopt;
  (void)rejected();
  return rejected_;
}

}  // namespace spectr
