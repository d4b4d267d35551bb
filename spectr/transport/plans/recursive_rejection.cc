#include "spectr/transport/plans/recursive_rejection.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "spectr/base/numeric.h"
#include "spectr/base/recycled.h"
#include "spectr/transport/math/distribution_union.h"
#include "spectr/transport/math/undecided.h"
#include "spectr/transport/plans/sequential_plan.h"

namespace spectr {
namespace {

class RecursiveRejection final : public SequentialPlan {
 public:
  RecursiveRejection(const DraftDistributions& p, const Distribution& q, DistributionUnion all,
                     RecycledVector<double> rejected)
      : SequentialPlan(p, q, std::move(all), 1.0 - rejected.back()), rejected_(std::move(rejected)) {}

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
  void leftover(std::size_t begin, std::span<double> out) const override {
    std::copy_n(all().q().data() + begin, out.size(), out.begin());
    for (std::size_t i = 0; i < drafts(); ++i) {
      const double* const p = all().p(i).data() + begin;
      for (std::size_t j = 0; j < out.size(); ++j) out[j] = std::max(0.0, out[j] - rejected_[i] * p[j]);
    }
  }

  RecycledVector<double> rejected_;  // D_0 … D_k
};

// For equal distributions D_m = Σ (q − C_m p)₊ with C_m = Σ_{j<m} D_j: Σ (q − p/s)₊ at the threshold
// s = 1/C_m. The D_m decrease, so 1 + D_1 ≤ C_m ≤ 1 + (k − 1) D_1 for m ≥ 2, and most tokens are open or
// saturated at all of these thresholds.
RecycledVector<double> rejections_of_equal(std::span<const double> p, std::span<const double> q,
                                           std::size_t k) {
  const double n = static_cast<double>(k);
  Undecided tokens(p, q, 1.0 / n, 1.0);
  RecycledVector<double> rejected = {1.0};
  double C = 1.0;
  for (std::size_t m = 1; m <= k; ++m) {
    const double s = std::clamp(1.0 / C, tokens.low(), tokens.high());
    rejected.push_back(std::min(tokens.sums(s).unserved, rejected.back()));
    C += rejected.back();
    if (m == 1 && k > 1) tokens.narrow(std::max(1.0 / (1.0 + (n - 1.0) * rejected[1]), 1.0 / n), 1.0 / C);
  }
  return rejected;
}

RecycledVector<double> rejections(const DistributionUnion& all) {
  RecycledVector<double> left(all.q().begin(), all.q().end());
  RecycledVector<double> rejected = {1.0};
  for (std::size_t m = 0; m < all.drafts(); ++m) {
    const auto row = all.p(m);
    const double sum = sum_in_blocks(0, left.size(), [&](std::size_t j) {
      return left[j] = std::max(0.0, left[j] - rejected[m] * row[j]);
    });
    rejected.push_back(std::min(sum, rejected[m]));
  }
  return rejected;
}

}  // namespace

Result<std::unique_ptr<TransportPlan>> build_recursive(const DraftDistributions& p, const Distribution& q,
                                                       const PlanOptions&) {
  DistributionUnion all(p, q);
  RecycledVector<double> rejected =
      p.equal() ? rejections_of_equal(all.p(0), all.q(), p.count()) : rejections(all);
  return std::make_unique<RecursiveRejection>(p, q, std::move(all), std::move(rejected));
}

}  // namespace spectr
