#pragma once

#include <cstddef>
#include <span>

namespace spectr {

/// β(ρ) = Σ min(p, q/ρ), the probability that a draft passes a k-Seq test, and miss = Σ (p − q/ρ)₊ = 1 − β.
/// The smaller one is summed directly and the other is its complement, so that neither loses digits near 0.
struct Overlap {
  double beta;
  double miss;
};

/// Computes the overlap in one pass over the distributions. Requires: p.size() == q.size(), ρ ≥ 1.
Overlap overlap(std::span<const double> p, std::span<const double> q, double rho);

/// Returns ln(1 − β) without loss of digits at either end; −∞ for β = 1.
double log_miss(Overlap overlap);

/// Returns p_acc/β = (1 − (1−β)^k)/β = Σ_{i<k} (1−β)^i, which falls from k at β = 0 to 1 at β = 1.
double accepted_per_test(Overlap overlap, std::size_t k);

/// Sums from one pass over two distributions at s = 1/ρ, over the saturated tokens (s q ≥ p, always accepted)
/// and the open ones (all others).
struct OverlapSums {
  double saturated = 0.0;  ///< A = Σ p over saturated tokens
  double open = 0.0;       ///< B = Σ q over open tokens: β = A + s B
  double miss = 0.0;       ///< Σ (p − s q)₊ = 1 − β
  double unserved = 0.0;   ///< Σ (q − p/s)₊ = 1 − ρβ

  Overlap overlap(double s) const;
};

/// Computes the sums in an order that depends only on p.size(): results are bitwise equal on all instruction
/// sets. Requires: p.size() == q.size().
OverlapSums overlap_sums(std::span<const double> p, std::span<const double> q, double s);

}  // namespace spectr
