#pragma once

#include <cstddef>
#include <span>

#include "spectr/base/recycled_array.h"
#include "spectr/transport/math/overlap.h"

namespace spectr {

/// Sums from one split of tokens at thresholds low ≤ high.
struct SplitSums {
  double open_q = 0.0, open_gap = 0.0;            ///< Σ q and Σ (p − high q) over open tokens
  double saturated_p = 0.0, saturated_gap = 0.0;  ///< Σ p and Σ (low q − p) over saturated tokens
  double undecided_q = 0.0;                       ///< Σ q over the other tokens
  std::size_t undecided = 0;                      ///< number of the other tokens
};

/// Two distributions for thresholds low ≤ s ≤ high of p/q. Tokens with p ≥ high q are open at all thresholds,
/// tokens with p ≤ low q are saturated (see OverlapSums); for these a few sums suffice. Only the remaining
/// tokens are visited again, and they are stored contiguously.
class Undecided {
 public:
  /// Makes one pass over the distributions. Requires: p.size() == q.size(), 0 < low ≤ high.
  Undecided(std::span<const double> p, std::span<const double> q, double low, double high);

  /// Restricts the thresholds to [low, high], which must lie within the current range. Makes one pass over
  /// the undecided tokens.
  void narrow(double low, double high);

  /// Returns the sums of the full distributions at a threshold low ≤ s ≤ high. All terms are ≥ 0, so no sum
  /// loses digits. Makes one pass over the undecided tokens.
  OverlapSums sums(double s) const;
  /// Returns β at `low`. Makes no pass.
  double beta_at_low() const { return found_.saturated_p + low_ * (found_.open_q + found_.undecided_q); }

  double low() const { return low_; }
  double high() const { return high_; }

 private:
  void split(const double* p, const double* q, std::size_t n);

  double low_, high_;
  SplitSums found_;
  RecycledArray<double> p_, q_;  // the first found_.undecided of each
};

}  // namespace spectr
