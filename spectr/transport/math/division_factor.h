#pragma once

#include <cstddef>
#include <span>

#include "spectr/base/recycled.h"
#include "spectr/transport/math/distribution_pair.h"
#include "spectr/transport/math/distribution_union.h"
#include "spectr/transport/math/overlap.h"

namespace spectr {

/// A division factor of k-Seq and what the search for it cost.
struct Division {
  double rho;
  RecycledVector<Overlap>
      overlaps;  ///< of each draft distribution; a single one for k drafts of one distribution
  int passes;    ///< evaluations over the distributions
};

/// For k drafts of p, equal or not: the one of the two functions below that applies. Requires: `all` holds
/// the distributions of p.
Division smallest_division(const DraftDistributions& p, const DistributionUnion& all);

/// ρ*, the smallest valid division factor for k drafts from p: the root of 1 − (1−β)^k = ρ β(ρ)
/// (SpecTr, arXiv 2310.15141, Algorithm 2 and Theorem 1), rounded to the valid side, ρ ≥ ρ*, by a few units
/// in the last place; where (1−β)^k is below the rounding of 1, so that acceptance does not tell them apart,
/// ρ may be larger. 1 where k = 1 or p = q; k where the supports are disjoint.
/// Cost: one pass over the distributions, and over the tokens with p < q < k p, of which most are soon
/// decided, usually 2 to 8 more, up to 12 where p is near q, up to 15 on distributions made to be hard.
Division division_factor(std::span<const double> p, std::span<const double> q, std::size_t k);
inline Division division_factor(const DistributionPair& distributions, std::size_t k) {
  return division_factor(distributions.p(), distributions.q(), k);
}

/// The smallest valid division factor for independent drafts from the distributions p₁ … p_k, tested in this
/// order (SpecTr++, Ahn et al. 2023, appendix B): the smallest ρ ≥ 1 with a ≤ q, where a = Σ_i R_i min(p_i,
/// q/ρ) is the accepted distribution and R_i = Π_{j<i} (1 − β_j) the probability to reach draft i. The ρ
/// returned is valid and its acceptance within 1e-13 of the best one, unless the search stalls: then a
/// bisection may end at a larger valid ρ. Cost: O(k · support) per pass; usually 2 to 5 passes, at most 60
/// before a bisection.
Division division_factor(const DistributionUnion& distributions);

}  // namespace spectr
