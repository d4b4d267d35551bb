#include "spectr/transport/math/ratio_cuts.h"

#include <algorithm>

#include "spectr/base/numeric.h"

namespace spectr {

std::span<const Masses> RatioCuts::tokens(std::size_t bucket) {
  const auto known = std::ranges::find(tokens_, bucket, [](const auto& entry) { return entry.first; });
  if (known != tokens_.end()) return known->second;
  tokens_.emplace_back(bucket, buckets_.tokens(bucket));
  return tokens_.back().second;
}

RatioCut RatioCuts::at(double bound) {
  const auto known = std::ranges::find(known_, bound, [](const auto& entry) { return entry.first; });
  if (known != known_.end()) return known->second;
  known_.emplace_back(bound, find(bound));
  return known_.back().second;
}

// Buckets are assigned by q/p and the cut by p > bound q; the two can round differently near 1/bound.
RatioCut RatioCuts::find(double bound) {
  constexpr double rounding = 1e-15;
  const std::size_t first = buckets_.bucket((1.0 - rounding) / bound),
                    last = buckets_.bucket((1.0 + rounding) / bound);
  RatioCut cut;
  Sum p, q;
  for (std::size_t b = 0; b < first; ++b) {
    p.add(buckets_[b].p);
    q.add(buckets_[b].q);
  }
  for (std::size_t b = first; b <= last; ++b) {
    for (const Masses& token : tokens(b)) {
      const bool is_above = token.p > bound * token.q;
      if (is_above) {
        p.add(token.p);
        q.add(token.q);
      }
      if (!(token.q > 0.0)) continue;
      const double ratio = token.p / token.q;
      if (is_above) {
        cut.lowest = std::min(cut.lowest, ratio);
      } else if (ratio > cut.highest) {
        cut.highest = ratio;
        cut.others = b;
      }
    }
  }
  cut.above = {p.value(), q.value()};
  for (std::size_t b = first; b-- > 0 && !(cut.lowest < std::numeric_limits<double>::infinity());) {
    if (!(buckets_[b].q > 0.0)) continue;
    for (const Masses& token : tokens(b)) {
      if (token.q > 0.0) cut.lowest = std::min(cut.lowest, token.p / token.q);
    }
  }
  for (std::size_t b = last + 1; b < buckets_.size() && cut.highest < 0.0; ++b) {
    if (!(buckets_[b].q > 0.0)) continue;
    for (const Masses& token : tokens(b)) {
      if (token.q > 0.0) cut.highest = std::max(cut.highest, token.p / token.q);
    }
    cut.others = b;
  }
  return cut;
}

}  // namespace spectr
