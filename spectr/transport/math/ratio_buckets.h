#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "spectr/base/recycled.h"
#include "spectr/base/recycled_array.h"

namespace spectr {

/// What some tokens have of p and of q.
struct Masses {
  double p = 0.0, q = 0.0;
};

/// The tokens of two distributions in buckets of their ratio r = q/p, which order them as far as thresholds
/// of r need it: bucket b holds edge(b) ≤ r < edge(b + 1), sixteen buckets to a factor of two, and the last
/// all that is larger. A token with p = 0 < q is in the last one. The distributions must outlive it.
class RatioBuckets {
 public:
  /// Buckets from 2⁻¹⁶ up to the least power of two from max_ratio on. A q up to `floor` counts as 0.
  /// Requires: p, q ≥ 0 and of one length, 1 ≤ max_ratio ≤ 2¹⁶. Cost: one pass.
  RatioBuckets(std::span<const double> p, std::span<const double> q, double floor, double max_ratio);

  std::size_t size() const { return sums_.size(); }
  /// The smallest ratio of bucket b: 0 of the first one. Requires: b < size().
  double edge(std::size_t b) const { return b == 0 ? 0.0 : std::bit_cast<double>(bits_of_edge(b)); }
  /// The bucket of a ratio ≥ 0.
  std::size_t bucket(double ratio) const;
  /// The sums over a bucket.
  const Masses& operator[](std::size_t b) const { return sums_[b]; }
  /// p and q of the tokens of a bucket. Cost: a pass over an index of two bytes a token.
  RecycledVector<Masses> tokens(std::size_t b) const;

 private:
  static constexpr int shift = 52 - 4;  // of a double's bits: sixteen buckets to a factor of two
  static constexpr std::int64_t lowest = std::bit_cast<std::int64_t>(0x1p-16);

  static std::int64_t bits_of_edge(std::size_t b) {
    return lowest + (static_cast<std::int64_t>(b - 1) << shift);
  }
  double floored(double q) const { return q > floor_ ? q : 0.0; }

  std::span<const double> p_, q_;
  double floor_;
  RecycledVector<Masses> sums_;
  RecycledArray<std::uint16_t> bucket_;  // of each token
};

}  // namespace spectr
