#pragma once

#include <cstddef>
#include <span>

#include "spectr/base/recycled.h"
#include "spectr/transport/math/distribution_pair.h"
#include "spectr/transport/math/distribution_union.h"
#include "spectr/transport/math/overlap.h"

namespace spectr {

/// A division factor of k-Seq and the cost of the search for it.
struct Division {
  double rho;
  RecycledVector<Overlap>
      overlaps;  ///< one per draft distribution; a single one if all drafts share a distribution
  int passes;    ///< number of evaluations over the distributions
};

/// Returns the smallest division factor for k drafts of p, equal or not, from the applicable function below.
/// Requires: `all` is the union of p and the target.
Division smallest_division(const DraftDistributions& p, const DistributionUnion& all);

/// Returns ρ*, the smallest valid division factor for k drafts from p: the root of 1 − (1−β)^k = ρ β(ρ)
/// (SpecTr, arXiv 2310.15141, Algorithm 2 and Theorem 1), rounded up to the valid side by a few ulps. ρ can
/// be larger if (1−β)^k is below the rounding of 1, so that the acceptance is the same. Returns 1 if k = 1 or
/// p = q, and k if the supports are disjoint. Cost: one pass over the distributions, and usually 2 to 8
/// passes over the tokens with p < q < k p, whose number falls quickly; up to 12 if p is near q, up to 15 in
/// adversarial cases.
Division division_factor(std::span<const double> p, std::span<const double> q, std::size_t k);
inline Division division_factor(const DistributionPair& distributions, std::size_t k) {
  return division_factor(distributions.p(), distributions.q(), k);
}

/// Returns the smallest valid division factor for independent drafts from the distributions p₁ … p_k, tested
/// in this order (SpecTr++, Ahn et al. 2023, appendix B): the smallest ρ ≥ 1 with a ≤ q, where
/// a = Σ_i R_i min(p_i, q/ρ) is the accepted distribution and R_i = Π_{j<i} (1 − β_j) the probability of
/// reaching draft i. The returned ρ is valid and its acceptance is within 1e-13 of the optimum, unless the
/// search stalls: bisection can then end at a larger valid ρ. Cost: O(k · support) per pass; usually 2 to 5
/// passes, at most 60 before a bisection.
Division division_factor(const DistributionUnion& distributions);

}  // namespace spectr
