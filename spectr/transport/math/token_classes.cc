#include "spectr/transport/math/token_classes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/base/numeric.h"
#include "spectr/base/recycled.h"
#include "spectr/transport/math/powers.h"
#include "spectr/transport/math/ratio_buckets.h"

namespace spectr {
namespace {

/// The tokens with ratios in [low, high), given by bits: doubles ≥ 0 are ordered like their bits.
struct Segment {
  std::uint64_t low, high;
  Masses sum;
  std::size_t bucket;  // the bucket with these tokens

  double edge() const { return std::bit_cast<double>(low); }
  double next_edge() const { return std::bit_cast<double>(high); }
  bool is_one_ratio() const { return high - low == 1; }
  /// Returns the p-mass that goes to the class of the upper edge.
  double upper() const { return std::clamp((sum.q - edge() * sum.p) / (next_edge() - edge()), 0.0, sum.p); }
};

std::uint64_t bits(double ratio) {
  return std::bit_cast<std::uint64_t>(ratio + 0.0);
}

/// Splits a segment into at most 256 parts and appends those with tokens.
void divide(const Segment& segment, std::span<const Masses> of_bucket, RecycledVector<Segment>& out) {
  constexpr int digit = 8;
  const int width = std::bit_width(segment.high - segment.low - 1);
  const int shift = std::max(0, width - digit);
  std::array<Sum, 1 << digit> p, q;
  for (const Masses& token : of_bucket) {
    const std::uint64_t ratio = bits(token.q / token.p);
    if (ratio < segment.low || ratio >= segment.high) continue;
    const auto part = static_cast<std::size_t>((ratio - segment.low) >> shift);
    p[part].add(token.p);
    q[part].add(token.q);
  }
  for (std::size_t part = 0; part < p.size(); ++part) {
    if (!(p[part].value() > 0.0)) continue;
    const std::uint64_t low = segment.low + (static_cast<std::uint64_t>(part) << shift);
    const std::uint64_t high = std::min(low + (std::uint64_t{1} << shift), segment.high);
    out.push_back({low, high, {p[part].value(), q[part].value()}, segment.bucket});
  }
}

/// Marks the segments that can contain the optimum's threshold. On the polygon of the classes (P, Q), D = Q −
/// P^k is smallest at a corner. The polygon touches that of the tokens at the edges, so the smallest D there
/// is no better than the tokens' optimum. A corner with a lower D lies in a segment that is too wide.
RecycledVector<char> too_wide(const RecycledVector<Segment>& segments, std::size_t k) {
  RecycledVector<double> corners;
  Sum P, Q;
  double least = 0.0;
  for (const Segment& segment : segments) {
    const double lower = segment.sum.p - segment.upper();
    const double P_corner = std::min(1.0, P.value() + lower);
    corners.push_back(Q.value() + segment.edge() * lower - power(P_corner, k));
    P.add(segment.sum.p);
    Q.add(segment.sum.q);
    least = std::min(least, Q.value() - power(std::min(1.0, P.value()), k));
  }
  RecycledVector<char> wide;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    wide.push_back(corners[i] < least - TokenClasses::max_loss && !segments[i].is_one_ratio() ? 1 : 0);
  }
  return wide;
}

}  // namespace

TokenClasses::Share TokenClasses::share(double ratio) const {
  const auto above = std::ranges::upper_bound(edges, ratio);
  if (above == edges.end()) return {size() - 1, 0.0};
  if (above == edges.begin()) return {0, 0.0};
  const double low = *(above - 1);
  return {static_cast<std::size_t>(above - edges.begin()) - 1, (ratio - low) / (*above - low)};
}

TokenClasses classes_of(std::span<const double> p, std::span<const double> q, std::size_t k) {
  const RatioBuckets buckets(p, q, 0.0, static_cast<double>(k));
  RecycledVector<Segment> segments;
  std::size_t b = 0;
  for (; b + 1 < buckets.size() && buckets.edge(b) < static_cast<double>(k); ++b) {
    if (!(buckets[b].p > 0.0)) continue;
    segments.push_back({bits(buckets.edge(b)), bits(buckets.edge(b + 1)), buckets[b], b});
  }
  const double max_ratio = buckets.edge(b);
  Masses beyond;  // tokens with a ratio above max_ratio
  for (; b < buckets.size(); ++b) beyond = {beyond.p + buckets[b].p, beyond.q + buckets[b].q};

  RecycledVector<RecycledVector<Masses>> tokens(buckets.size());  // of the buckets that are split
  for (;;) {
    const RecycledVector<char> wide = too_wide(segments, k);
    if (std::ranges::find(wide, 1) == wide.end()) break;
    RecycledVector<Segment> next;
    for (std::size_t i = 0; i < segments.size(); ++i) {
      if (wide[i] == 0) {
        next.push_back(segments[i]);
        continue;
      }
      const std::size_t at = segments[i].bucket;
      if (tokens[at].empty()) tokens[at] = buckets.tokens(at);
      divide(segments[i], tokens[at], next);
    }
    segments = std::move(next);
  }

  TokenClasses classes;
  const auto add = [&classes](double edge, double mass) {
    if (classes.edges.empty() || classes.edges.back() != edge) {
      classes.edges.push_back(edge);
      classes.p.push_back(0.0);
    }
    classes.p.back() += mass;
  };
  for (const Segment& segment : segments) {
    const double upper = segment.upper();
    add(segment.edge(), segment.sum.p - upper);
    add(segment.next_edge(), upper);
  }
  add(max_ratio, beyond.p);
  for (std::size_t c = 0; c < classes.size(); ++c) classes.q.push_back(classes.edges[c] * classes.p[c]);
  classes.p.push_back(0.0);
  classes.q.push_back(std::max(0.0, beyond.q - max_ratio * beyond.p));
  return classes;
}

}  // namespace spectr
