#include "spectr/transport/division_factor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "spectr/base/check.h"

namespace spectr {
namespace {

constexpr double ulp = std::numeric_limits<double>::epsilon();

// With s = 1/ρ, β(s) = Σ min(p, s q) is concave and piecewise linear. The tangent at s: β there, and the
// slope Σ q over the tokens with s q < p.
struct Tangent {
  Overlap overlap;
  double slope;
};

// Sums in lanes, so that the loop vectorises, and in blocks, so that rounding grows with √V at most.
Tangent tangent(std::span<const double> p, std::span<const double> q, double s) {
  constexpr std::size_t lanes = 4, block = 1024;
  double beta = 0.0, miss = 0.0, slope = 0.0;
  for (std::size_t begin = 0; begin < p.size(); begin += block) {
    const std::size_t end = std::min(begin + block, p.size());
    std::array<double, lanes> passed{}, failed{}, unsaturated{};
    const auto add = [&](std::size_t i, std::size_t lane) {
      const double share = s * q[i];
      passed[lane] += std::min(p[i], share);
      failed[lane] += std::max(p[i] - share, 0.0);
      unsaturated[lane] += share < p[i] ? q[i] : 0.0;
    };
    std::size_t i = begin;
    for (; i + lanes <= end; i += lanes) {
      for (std::size_t lane = 0; lane < lanes; ++lane) add(i + lane, lane);
    }
    for (; i < end; ++i) add(i, 0);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      beta += passed[lane];
      miss += failed[lane];
      slope += unsaturated[lane];
    }
  }
  if (beta < miss) return {{beta, 1.0 - beta}, slope};
  return {{1.0 - miss, miss}, slope};
}

Overlap from_beta(double beta) {
  beta = std::clamp(beta, 0.0, 1.0);
  return {beta, 1.0 - beta};
}

// d/dβ of accepted_per_test.
double accepted_per_test_slope(Overlap o, std::size_t k) {
  const double n = static_cast<double>(k);
  if (o.beta * n < 1e-5) return -0.5 * n * (n - 1.0);
  return (n * std::pow(o.miss, n - 1.0) - accepted_per_test(o, k)) / o.beta;
}

// The root of s · h(β) = 1, h = accepted_per_test, on the line β(s) = β₀ + slope · (s − s₀): Newton's method,
// kept inside a shrinking bracket. h lies in [1, k], so the root lies in [1/k, s₀]. Costs no pass.
double root_on_tangent(const Tangent& at, double s0, std::size_t k) {
  double below = 1.0 / static_cast<double>(k), above = s0, s = s0;
  while (above - below > ulp * above) {
    const Overlap o = from_beta(at.overlap.beta + at.slope * (s - s0));
    const double h = accepted_per_test(o, k);
    const double excess = s * h - 1.0;
    (excess > 0.0 ? above : below) = s;
    const double step = excess / (h + s * at.slope * accepted_per_test_slope(o, k));
    if (std::abs(step) <= ulp * s) break;
    s = s - step > below && s - step < above ? s - step : 0.5 * (below + above);
  }
  return s;
}

// G(ρ) = max over q > 0 of Σ_i R_i min(ρ p_i/q, 1); ρ is valid iff G(ρ) ≤ ρ. Fills the overlaps at ρ.
double largest_use(const LawUnion& laws, double rho, std::vector<Overlap>& overlaps) {
  std::vector<double> reached(laws.drafts());
  double left = 1.0;
  for (std::size_t i = 0; i < laws.drafts(); ++i) {
    overlaps[i] = overlap(laws.p(i), laws.q(), rho);
    reached[i] = left;
    left *= overlaps[i].miss;
  }
  double largest = 0.0;
  for (std::size_t j = 0; j < laws.size(); ++j) {
    const double q = laws.q()[j];
    if (!(q > 0.0)) continue;
    double use = 0.0;
    for (std::size_t i = 0; i < laws.drafts(); ++i) use += reached[i] * std::min(laws.p(i)[j] * rho / q, 1.0);
    largest = std::max(largest, use);
  }
  return largest;
}

}  // namespace

Overlap overlap(std::span<const double> p, std::span<const double> q, double rho) {
  SPECTR_CHECK(p.size() == q.size());
  SPECTR_CHECK(rho >= 1.0);
  return tangent(p, q, 1.0 / rho).overlap;
}

double log_miss(Overlap o) {
  return o.beta < 0.5 ? std::log1p(-o.beta) : std::log(o.miss);
}

double accepted_per_test(Overlap o, std::size_t k) {
  const double n = static_cast<double>(k);
  if (o.beta < ulp / n) return n;  // where β may be subnormal, its quotients lose digits
  return -std::expm1(n * log_miss(o)) / o.beta;
}

// Newton's method on the tangents of the concave β(s): each tangent lies above β, so its root lies at or
// above the true one, and the iterates fall. Once the piece that holds the root is met, its root is exact; a
// nudge of a few ulps puts it on the valid side s h(β) ≤ 1, where the search ends.
Division division_factor(const LawPair& laws, std::size_t k) {
  SPECTR_CHECK(k >= 1);
  double s = 1.0;
  for (int passes = 1;; ++passes) {
    const Tangent at = tangent(laws.p(), laws.q(), s);
    if (k == 1 || s * accepted_per_test(at.overlap, k) <= 1.0) return {1.0 / s, {at.overlap}, passes};
    s = std::min(root_on_tangent(at, s, k), s) * (1.0 - 4.0 * ulp);
  }
}

// G is continuous, non-decreasing and at most k. So no ρ in [r, G(r)) is valid, and ρ ← G(ρ) rises from 1 to
// the smallest valid ρ. Points extrapolated from the steps close the gap from above.
Division division_factor(const LawUnion& laws) {
  constexpr int most_steps = 1000;
  constexpr double delta = 1e-13;
  std::vector<Overlap> overlaps(laws.drafts());
  int passes = 0;
  const auto use = [&](double rho) {
    ++passes;
    return largest_use(laws, rho, overlaps);
  };
  double below = 1.0;                                 // no smaller ρ is valid
  double above = static_cast<double>(laws.drafts());  // valid
  double last_step = 0.0;
  for (int n = 0; n < most_steps && above - below > delta * above; ++n) {
    const double next = std::min(use(below), above);
    if (next <= below) return {below, overlaps, passes};
    const double step = next - below;
    const double rate = last_step > 0.0 ? step / last_step : 1.0;
    below = next;
    last_step = step;
    if (rate >= 1.0) continue;
    const double limit = next + 1.01 * step * rate / (1.0 - rate) + 4.0 * ulp * next;
    if (limit < above && use(limit) <= limit) above = limit;
  }
  // Only where the iteration creeps: the nearest crossing by bisection.
  while (above - below > delta * above) {
    const double middle = 0.5 * (below + above);
    (use(middle) <= middle ? above : below) = middle;
  }
  use(above);
  return {above, overlaps, passes};
}

}  // namespace spectr
