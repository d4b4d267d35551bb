#pragma once

#include <span>

#include "spectr/transport/division_factor.h"

namespace spectr {

/// What one pass over two laws at s = 1/ρ sums, over the saturated tokens (s q ≥ p, always accepted) and the
/// others.
struct OverlapSums {
  double saturated = 0.0;  ///< A = Σ p over saturated tokens
  double open = 0.0;       ///< B = Σ q over the others: β = A + s B
  double miss = 0.0;       ///< Σ (p − s q)₊ = 1 − β
  double unserved = 0.0;   ///< Σ (q − p/s)₊ = 1 − ρβ

  Overlap overlap(double s) const;
};

/// The sums, in an order that depends on p.size() alone: the same bits on every instruction set. Requires:
/// p.size() == q.size().
OverlapSums overlap_sums(std::span<const double> p, std::span<const double> q, double s);

}  // namespace spectr
