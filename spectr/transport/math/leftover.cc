#include "spectr/transport/math/leftover.h"

#include <algorithm>
#include <cmath>

#include "spectr/transport/math/powers.h"

namespace spectr {
namespace {

/// Returns the root of an increasing convex function from a start at or above it: Newton's steps decrease
/// towards the root and never pass it. Stops at `lowest`, or when rounding prevents progress.
template <class ValueAndSlope>
double newton_from_above(double x, double lowest, const ValueAndSlope& at) {
  for (int step = 0; step < 100; ++step) {
    const auto [value, slope] = at(x);
    const double next = x - value / slope;
    if (next <= lowest) return lowest;
    if (!(next < x)) return x;
    const bool settled = x - next <= 1e-15 * x;
    x = next;
    if (settled) return x;
  }
  return x;
}

struct ValueAndSlope {
  double value, slope;
};

}  // namespace

void Leftover::open(double pool, double floor, double top) {
  pool_ = pool;
  floor_ = floor;
  top_ = std::max(top, floor);
  gaps_.clear();
}

double Leftover::mass(double low, double width) const {
  return power_difference(low, width, k_);
}

/// Returns the mass of the highest `width` of the pool and the untouched part.
double Leftover::mass_below_top(double width) const {
  const double inside = std::min(width, untouched());
  return mass(top_ - inside, inside);
}

void Leftover::add(double low, double width) {
  if (width > 0.0) out_.add(low, width);
}

void Leftover::leave_gap(double low, double high) {
  if (high > low) gaps_.push_back({low, high - low});
}

void Leftover::take_from_pool(double width) {
  add(Pieces::below_cut, width);
  pool_ = std::max(0.0, pool_ - width);
}

void Leftover::take_below_top(double width) {
  const double inside = std::min(width, untouched());
  take_from_pool(std::min(pool_, width - inside));
  top_ = inside < untouched() ? top_ - inside : floor_;
  add(top_, inside);
}

void Leftover::serve(double p, double m) {
  const std::size_t before = out_.size();
  const bool fits_below_top = p <= untouched() + pool_;
  if (fits_below_top && mass_below_top(p) >= m) {
    cut_below_top(p, m);
  } else {
    cut_across_gaps(p, m);
  }
  if (out_.size() == before) out_.add(top_, p);
}

void Leftover::serve_last(double p) {
  const std::size_t before = out_.size();
  take_below_top(untouched() + pool_);
  for (; !gaps_.empty(); gaps_.pop_back()) add(gaps_.back().low, gaps_.back().length);
  if (out_.size() == before) out_.add(top_, p);
}

/// Returns the u with (u + p)^k − u^k = m in [floor, top − p], in terms of densities, which do not underflow.
/// The mean density is m / p = k ū^{k−1}. The density is convex for k ≥ 3, so the window's middle is at most
/// ū, which gives the start. For k = 2 the start is the root itself.
double Leftover::lower_edge(double p, double m) const {
  const double k = static_cast<double>(k_);
  const double mean = std::pow(m / p / k, 1.0 / (k - 1.0));
  const double start = std::clamp(mean - 0.5 * p, floor_, std::max(floor_, top_ - p));
  return newton_from_above(start, floor_, [&](double u) {
    return ValueAndSlope{power_quotient(u, p, k_) - m / p, k * power_quotient(u, p, k_ - 1)};
  });
}

/// Cuts a window that ends at or below the top.
void Leftover::cut_below_top(double p, double m) {
  double low = floor_, width = p;
  if (p <= untouched() && mass(floor_, p) <= m) {
    low = lower_edge(p, m);
  } else {  // it begins in the pool, or at the lowest possible point
    width = std::min({power_width(floor_, m, k_), p, untouched()});
    const double rejected = std::min(pool_, p - width);
    width = p - rejected;
    take_from_pool(rejected);
  }
  add(low, width);
  leave_gap(low + width, top_);
  top_ = low;
}

/// Returns the length x that a window of mass m takes from `gap`, if it takes `want` in total from the gap
/// and from below the top. The mass grows with x: (l + x)^k − l^k + t^k − (t − want + x)^k, which is convex
/// in x while the window begins above the floor; if it begins in the pool, the last two terms are constant.
double Leftover::share_of_gap(const Gap& gap, double want, double m) const {
  const double most = std::min(gap.length, want);
  const double to_floor = want - untouched();  // the x for which the window begins at the floor
  const double least = std::max(0.0, to_floor - pool_);
  const auto excess = [&](double x) { return mass(gap.low, x) + mass_below_top(want - x) - m; };
  if (to_floor >= least) {
    const double end = std::min(to_floor, most);
    if (excess(end) >= 0.0) {
      const double x = power_width(gap.low, std::max(0.0, m - mass(floor_, untouched())), k_);
      return std::clamp(x, std::min(least, end), end);
    }
  }
  const double k = static_cast<double>(k_);
  return newton_from_above(most, std::min(least, most), [&](double x) {
    const double begin = std::max(floor_, top_ - (want - x));
    return ValueAndSlope{excess(x), k * (power(gap.low + x, k_ - 1) - power(begin, k_ - 1))};
  });
}

/// Cuts a window that begins at or below the top and takes the lowest gaps, the last of them in part.
void Leftover::cut_across_gaps(double p, double m) {
  const std::size_t first = out_.size();
  double want = p;
  while (!gaps_.empty() && want > 0.0) {
    Gap& gap = gaps_.back();
    const double most = std::min(gap.length, want);
    const bool enough_below = want - most <= untouched() + pool_;
    const double reached = mass(gap.low, most) + mass_below_top(want - most);
    if (most == want || (enough_below && reached >= m)) {
      const double share = share_of_gap(gap, want, m);
      add(gap.low, share);
      gap = {gap.low + share, gap.length - share};
      if (!(gap.length > 0.0)) gaps_.pop_back();
      want -= share;
      break;
    }
    add(gap.low, gap.length);
    m -= mass(gap.low, gap.length);
    want -= gap.length;
    gaps_.pop_back();
  }
  const std::size_t gaps_taken = out_.size() - first;
  take_below_top(want);
  out_.rotate(first, gaps_taken);  // the part below the top comes before the gaps
}

}  // namespace spectr
