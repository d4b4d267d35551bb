#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <utility>

#include "spectr/base/recycled.h"
#include "spectr/transport/math/ratio_buckets.h"

namespace spectr {

/// A partition of the tokens by a bound of p/q: the tokens above it, p > bound q, and the largest other one.
struct RatioCut {
  Masses above;                                             ///< sums over the tokens above the bound
  double lowest = std::numeric_limits<double>::infinity();  ///< smallest p/q above the bound, over q > 0
  double highest = -1.0;                                    ///< largest p/q of the other tokens, over q > 0
  std::size_t others = 0;                                   ///< the bucket with that token
};

/// Cuts of two distributions for given bounds. Only the bucket that a bound falls into is examined token by
/// token, and results are cached. The distributions must outlive it.
class RatioCuts {
 public:
  /// A q up to `floor` counts as 0. Requires: the preconditions of RatioBuckets. Cost: one pass.
  RatioCuts(std::span<const double> p, std::span<const double> q, double floor, double max_ratio)
      : buckets_(p, q, floor, max_ratio) {}

  /// Returns the cut at a bound. Requires: bound > 0, finite. Cost: RatioBuckets::tokens on first use.
  RatioCut at(double bound);
  /// Returns the tokens of a bucket.
  std::span<const Masses> tokens(std::size_t bucket);

 private:
  RatioCut find(double bound);

  RatioBuckets buckets_;
  RecycledVector<std::pair<std::size_t, RecycledVector<Masses>>> tokens_;  // cached buckets
  RecycledVector<std::pair<double, RatioCut>> known_;
};

}  // namespace spectr
