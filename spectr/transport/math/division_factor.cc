#include "spectr/transport/math/division_factor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/base/recycled.h"
#include "spectr/transport/math/undecided.h"

namespace spectr {
namespace {

constexpr double ulp = std::numeric_limits<double>::epsilon();

// E = 1 − (1−β)^k − ρβ = (1 − ρβ) − (1−β)^k; ρ is valid iff E ≤ 0. The first form is used if little is
// accepted, the second if little is rejected: each is accurate there.
double excess(Overlap o, double unserved, double rho, std::size_t k) {
  const double rejected = std::exp(static_cast<double>(k) * log_miss(o));
  return rejected < 0.5 ? unserved - rejected : o.beta * (accepted_per_test(o, k) - rho);
}

// A trial of s = 1/ρ for one distribution: E and the tangent of β at s.
struct Point {
  double s;
  OverlapSums at;
  Overlap overlap;
  double e;
  double rejected;  // (1 − β)^k, which decreases with s

  Point(const Undecided& tokens, double trial, std::size_t k)
      : s(trial),
        at(tokens.sums(s)),
        overlap(at.overlap(s)),
        e(excess(overlap, at.unserved, 1.0 / s, k)),
        rejected(std::exp(static_cast<double>(k) * log_miss(overlap))) {}

  // Tolerates one unit in the last place: if nearly everything is accepted, E can be far below rounding for a
  // wide range of ρ.
  bool valid() const { return e <= ulp * overlap.beta; }
};

// Returns the root s of E on the line β(s) = A + s B through the point `from`, where 1 − ρβ = unserved₀ +
// A (1/s₀ − 1/s). Newton's method within a shrinking bracket. The root lies in [1/k, 1], because 1 ≤ p_acc/β
// ≤ k. Needs no pass over the tokens.
double root_on_line(const Point& from, double A, double B, std::size_t k) {
  const double n = static_cast<double>(k);
  double below = 1.0 / n, above = 1.0, s = from.s;
  while (above - below > ulp * above) {
    const double beta = std::min(A + s * B, 1.0);
    const Overlap o{beta, 1.0 - beta};
    const double e = excess(o, from.at.unserved + A * (1.0 / from.s - 1.0 / s), 1.0 / s, k);
    (e > 0.0 ? above : below) = s;
    const double slope = A / (s * s) + n * std::pow(o.miss, n - 1.0) * B;
    const double step = e / slope;
    if (std::abs(step) <= ulp * s) break;
    s = s - step > below && s - step < above ? s - step : 0.5 * (below + above);
  }
  return s;
}

double root_on_tangent(const Point& from, std::size_t k) {
  return root_on_line(from, from.at.saturated, from.at.open, k);
}

// β(s) is concave, so it lies above its chord from s = low to s = 1, and its root above the chord's root.
double root_on_chord(const Point& from_one, double low, double beta_at_low, std::size_t k) {
  const double beta = from_one.at.saturated + from_one.at.open;
  const double B = std::max(0.0, (beta - beta_at_low) / (1.0 - low));
  return root_on_line(from_one, std::max(0.0, beta - B), B, k);
}

// A trial of ρ for several draft distributions. G(ρ) = max over q > 0 of Σ_i R_i min(ρ p_i/q, 1); ρ is valid
// iff G(ρ) ≤ ρ.
struct Trial {
  double rho;
  double use = 0.0;         // G(ρ)
  std::size_t largest = 0;  // the token that attains it
  double rejected = 1.0;    // Π (1 − β_i), which increases with ρ
  RecycledVector<Overlap> overlaps;
  RecycledVector<double> open;  // B_i: β_i = A_i + B_i/ρ near this ρ, an upper bound elsewhere

  Trial(const DistributionUnion& distributions, double trial) : rho(trial) {
    RecycledVector<double> reached;
    for (std::size_t i = 0; i < distributions.drafts(); ++i) {
      const OverlapSums sums = overlap_sums(distributions.p(i), distributions.q(), 1.0 / rho);
      overlaps.push_back(sums.overlap(1.0 / rho));
      open.push_back(sums.open);
      reached.push_back(rejected);
      rejected *= overlaps.back().miss;
    }
    for (std::size_t j = 0; j < distributions.size(); ++j) {
      const double q = distributions.q()[j];
      if (!(q > 0.0)) continue;
      double token = 0.0;
      for (std::size_t i = 0; i < distributions.drafts(); ++i) {
        token += reached[i] * std::min(distributions.p(i)[j] / q * rho, 1.0);
      }
      if (token <= use) continue;
      use = token;
      largest = j;
    }
  }

  bool valid() const { return use <= rho; }
};

// Returns a lower bound of G that is tight near `from`: the use of the token that attains the maximum there,
// with each β_i replaced by its tangent, an upper bound. It is non-decreasing in ρ.
double use_on_tangents(const DistributionUnion& distributions, const Trial& from, double rho) {
  double use = 0.0, reached = 1.0;
  for (std::size_t i = 0; i < distributions.drafts(); ++i) {
    use += reached * std::min(distributions.p(i)[from.largest] / distributions.q()[from.largest] * rho, 1.0);
    reached *= from.overlaps[i].miss + from.open[i] * (1.0 / from.rho - 1.0 / rho);
  }
  return use;
}

// Returns the first fixed point of that bound above `from`; no smaller ρ is valid. The iteration ρ ← use(ρ)
// rises to it. If that is slow, doubling steps bracket the crossing for bisection. Needs no pass.
double root_on_tangents(const DistributionUnion& distributions, const Trial& from) {
  constexpr int max_steps = 50;
  const auto use = [&](double rho) { return use_on_tangents(distributions, from, rho); };
  double below = from.rho, above = from.use;
  for (int n = 0; n < max_steps; ++n) {
    below = above;
    above = use(below);
    if (above <= below * (1.0 + ulp)) return below;
  }
  for (double step = above - below; use(above) > above; step *= 2.0) {
    below = above;
    above += step;
  }
  while (above - below > ulp * above) {
    const double middle = 0.5 * (below + above);
    (use(middle) > middle ? below : above) = middle;
  }
  return below;
}

}  // namespace

// β(s) is concave and piecewise linear in s = 1/ρ, so every tangent lies above it. The root of E on a
// tangent, from either side, is therefore an upper bound of the true root. Newton's method follows these
// bounds down. Once it reaches the piece with the root, the bound is exact up to rounding. A nudge then moves
// it to the valid side, where the search ends. (A nudge that is lost in the rounding of E grows.)
//
// Newton's steps are short if (1−β)^k and 1 − ρβ range over orders of magnitude. At the root the two are
// equal; at a point above it they bracket their common value. So if the bracket is wide, every other trial is
// the s at which, on the tangent, (1−β)^k is the geometric mean of the bracket. A trial that rejects no more
// than the root does, up to rounding, is good enough; Newton's method then continues for a few passes to look
// for the smallest ρ.
//
// All trials lie between the root on the tangent at s = 1 and that on β's chord from 1/k to 1. Most tokens
// are open or saturated throughout this range, and only the others are visited again.
Division division_factor(std::span<const double> p, std::span<const double> q, std::size_t k) {
  SPECTR_CHECK(k >= 1);
  constexpr double delta = 1e-13, wide = 16.0;
  constexpr double slack = 1e-6;  // relative to the chord's root; more than rounding
  constexpr int max_passes = 16;  // limit once a good enough ρ is known
  const double n = static_cast<double>(k);
  Undecided tokens(p, q, 1.0 / n, 1.0);
  Point above(tokens, 1.0, k);  // an upper bound of the root
  if (above.overlap.beta == 0.0) return {n, {above.overlap}, 1};
  if (k == 1 || above.valid()) return {1.0, {above.overlap}, 1};
  double bound = root_on_tangent(above, k), nudge = 4.0 * ulp;
  const double lowest = root_on_chord(above, tokens.low(), tokens.beta_at_low(), k) * (1.0 - slack);
  tokens.narrow(std::clamp(lowest, tokens.low(), bound), bound);
  double below = 1.0 / n, rejected_below = 1.0;  // valid
  bool halve = false;
  std::optional<Division> would_do;
  for (int passes = 2;; ++passes) {
    if (would_do && passes > max_passes) {
      would_do->passes = max_passes;
      return *std::move(would_do);
    }
    const double closed = 1.0 - above.at.saturated;  // on the tangent 1 − β = closed − s B
    const double least = std::max(std::pow(std::max(closed - bound * above.at.open, 0.0), n), ulp);
    const double most = std::min(above.at.unserved, rejected_below);
    const double middle = (closed - std::pow(least * most, 0.5 / n)) / above.at.open;
    double s = bound * (1.0 - nudge);
    halve = !halve && !would_do && most > wide * least && middle > below && middle < s;
    s = std::max(halve ? middle : s, tokens.low());

    Point next(tokens, s, k);
    bound = std::min(bound, root_on_tangent(next, k));
    if (!next.valid() && s > tokens.low()) {
      if (bound > s * (1.0 - nudge)) nudge *= 64.0;
      above = next;
    } else if (halve) {
      below = s;
      rejected_below = next.rejected;
      if (next.rejected - above.rejected <= delta) would_do = {1.0 / s, {next.overlap}, passes};
    } else {
      return {1.0 / s, {next.overlap}, passes};
    }
  }
}

Division smallest_division(const DraftDistributions& p, const DistributionUnion& all) {
  return p.equal() ? division_factor(all.p(0), all.q(), p.count()) : division_factor(all);
}

// G is continuous, non-decreasing and at most k. So no ρ in [r, G(r)) is valid, nor is one below the fixed
// point of a non-decreasing lower bound of G. From fixed point to fixed point, ρ rises from 1 to the smallest
// valid one. A nudge moves it to the valid side and grows if it is lost in rounding. It costs no more
// acceptance than its size, as −d acceptance/d ln ρ is at most the probability that exactly one test passes.
// If the iteration does not end, bisection finds the nearest crossing.
Division division_factor(const DistributionUnion& distributions) {
  constexpr int max_steps = 60;
  constexpr double delta = 1e-13;
  int passes = 1;
  Trial below(distributions, 1.0);  // no smaller ρ is valid
  if (below.valid()) return {below.rho, below.overlaps, passes};
  double nudge = 4.0 * ulp;
  while (passes < max_steps && nudge <= delta) {
    const double root = root_on_tangents(distributions, below);
    if (root <= below.rho * (1.0 + nudge)) nudge *= 4.0;
    below = Trial(distributions, root * (1.0 + nudge));
    ++passes;
    if (below.valid()) return {below.rho, below.overlaps, passes};
  }
  Trial above(distributions, std::max(below.rho, static_cast<double>(distributions.drafts())));  // valid
  ++passes;
  while (above.rejected - below.rejected > delta && above.rho - below.rho > 2.0 * ulp * above.rho) {
    Trial middle(distributions, 0.5 * (below.rho + above.rho));
    ++passes;
    (middle.valid() ? above : below) = std::move(middle);
  }
  return {above.rho, above.overlaps, passes};
}

}  // namespace spectr
