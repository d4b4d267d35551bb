#pragma once

#include <cstddef>
#include <span>

#include "spectr/base/recycled_array.h"
#include "spectr/transport/math/overlap.h"

namespace spectr {

/// What one split of tokens at thresholds low ≤ high finds.
struct SplitSums {
  double open_q = 0.0, open_gap = 0.0;            ///< Σ q and Σ (p − high q) over open tokens
  double saturated_p = 0.0, saturated_gap = 0.0;  ///< Σ p and Σ (low q − p) over saturated ones
  double undecided_q = 0.0;                       ///< Σ q over the others
  std::size_t undecided = 0;                      ///< how many those are
};

/// Two distributions for the thresholds low ≤ s ≤ high of p/q. A token with p ≥ high q is open at all of
/// them, one with p ≤ low q saturated (OverlapSums); of those a few sums are enough. Only the tokens between
/// are looked at again, and they lie side by side.
class Undecided {
 public:
  /// One pass over the distributions. Requires: p.size() == q.size(), 0 < low ≤ high.
  Undecided(std::span<const double> p, std::span<const double> q, double low, double high);

  /// From now on for thresholds within [low, high] only, which lies within the thresholds so far. One pass
  /// over the tokens that were undecided.
  void narrow(double low, double high);

  /// The sums at a threshold s, low ≤ s ≤ high, as of the distributions themselves: all of them of terms ≥ 0,
  /// so that none loses digits. One pass over the undecided tokens.
  OverlapSums sums(double s) const;
  /// Those at `low`, of which the sum `miss` is left out. No pass.
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
