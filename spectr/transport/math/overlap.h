#pragma once

#include <cstddef>
#include <span>

namespace spectr {

/// β(ρ) = Σ min(p, q/ρ), the probability that a draft passes a k-Seq test, and miss = Σ (p − q/ρ)₊ = 1 − β.
/// Each is summed where it is small and complemented where it is large, so that neither loses digits near 0.
struct Overlap {
  double beta;
  double miss;
};

/// One pass over the distributions. Requires: p.size() == q.size(), ρ ≥ 1.
Overlap overlap(std::span<const double> p, std::span<const double> q, double rho);

/// ln(1 − β) without loss of digits at either end; −∞ for β = 1.
double log_miss(Overlap overlap);

/// p_acc/β = (1 − (1−β)^k)/β = Σ_{i<k} (1−β)^i: from k at β = 0 down to 1 at β = 1.
double accepted_per_test(Overlap overlap, std::size_t k);

/// What one pass over two distributions at s = 1/ρ sums, over the saturated tokens (s q ≥ p, always accepted)
/// and the others.
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
