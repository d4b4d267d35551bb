#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <utility>

#include "spectr/base/recycled.h"
#include "spectr/transport/math/ratio_buckets.h"

namespace spectr {

/// What a bound of p/q makes of the tokens: those above it, p > bound q, and where the others begin.
struct RatioCut {
  Masses above;                                             ///< sums over the tokens above
  double lowest = std::numeric_limits<double>::infinity();  ///< least p/q above, over q > 0
  double highest = -1.0;                                    ///< largest p/q of the others, over q > 0
  std::size_t others = 0;                                   ///< the bucket that holds this one
};

/// Cuts of two distributions, asked for bound by bound: only the bucket that a bound falls into is looked at
/// token by token, and remembered. The distributions must outlive it.
class RatioCuts {
 public:
  /// A q up to `floor` counts as 0. Requires: as of RatioBuckets. Cost: one pass.
  RatioCuts(std::span<const double> p, std::span<const double> q, double floor, double max_ratio)
      : buckets_(p, q, floor, max_ratio) {}

  /// Requires: bound > 0, finite. Cost: as of RatioBuckets::tokens the first time.
  RatioCut at(double bound);
  /// The tokens of a bucket.
  std::span<const Masses> tokens(std::size_t bucket);

 private:
  RatioCut find(double bound);

  RatioBuckets buckets_;
  RecycledVector<std::pair<std::size_t, RecycledVector<Masses>>> tokens_;  // of the buckets looked at
  RecycledVector<std::pair<double, RatioCut>> known_;
};

}  // namespace spectr
