#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "spectr/base/recycled.h"
#include "spectr/base/recycled_array.h"

namespace spectr {

/// Masses of a set of tokens under p and q.
struct Masses {
  double p = 0.0, q = 0.0;
};

/// The tokens of two distributions, bucketed by their ratio r = q/p, which orders them as far as thresholds
/// of r require. Bucket b has the tokens with edge(b) ≤ r < edge(b + 1), with sixteen buckets per factor of
/// two; the last bucket has all larger ratios, including p = 0 < q. The distributions must outlive it.
class RatioBuckets {
 public:
  /// Builds buckets from 2⁻¹⁶ to the smallest power of two ≥ max_ratio. A q up to `floor` counts as 0.
  /// Requires: p, q ≥ 0 and of the same length, 1 ≤ max_ratio ≤ 2¹⁶. Cost: one pass.
  RatioBuckets(std::span<const double> p, std::span<const double> q, double floor, double max_ratio);

  std::size_t size() const { return sums_.size(); }
  /// Returns the smallest ratio of bucket b, 0 for the first one. Requires: b < size().
  double edge(std::size_t b) const { return b == 0 ? 0.0 : std::bit_cast<double>(bits_of_edge(b)); }
  /// Returns the bucket of a ratio ≥ 0.
  std::size_t bucket(double ratio) const;
  /// Returns the sums over a bucket.
  const Masses& operator[](std::size_t b) const { return sums_[b]; }
  /// Returns p and q of each token of a bucket. Cost: a pass over an index of two bytes per token.
  RecycledVector<Masses> tokens(std::size_t b) const;

 private:
  static constexpr int shift = 52 - 4;  // of a double's bits: sixteen buckets per factor of two
  static constexpr std::int64_t lowest = std::bit_cast<std::int64_t>(0x1p-16);

  static std::int64_t bits_of_edge(std::size_t b) {
    return lowest + (static_cast<std::int64_t>(b - 1) << shift);
  }
  double floored(double q) const { return q > floor_ ? q : 0.0; }

  std::span<const double> p_, q_;
  double floor_;
  RecycledVector<Masses> sums_;
  RecycledArray<std::uint16_t> bucket_;  // per token
};

}  // namespace spectr
