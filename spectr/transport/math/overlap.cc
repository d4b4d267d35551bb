#include "spectr/transport/math/overlap.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "spectr/base/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "spectr/transport/math/overlap.cc"
#include <hwy/foreach_target.h>
// Highway first compiles one copy per instruction set.
#include <hwy/highway.h>

// Names follow Highway's conventions.
// NOLINTBEGIN(readability-identifier-naming,modernize-concat-nested-namespaces)
HWY_BEFORE_NAMESPACE();
namespace spectr {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Token i goes to running sum i mod 8, and the sums are gathered per block, so that rounding errors do not
// grow with V.
constexpr std::size_t running = 8, block = 1024;

/// Adds the sums of `size` ≤ block tokens.
void AddBlock(const double* p, const double* q, std::size_t size, double s, OverlapSums& total) {
  double saturated[running], open[running], miss[running], unserved[running];
  const auto add = [&](auto d, std::size_t i, auto& a, auto& b, auto& m, auto& u) HWY_ATTR {
    const auto chance = hn::LoadU(d, p + i), target = hn::LoadU(d, q + i);
    const auto gap = hn::Sub(chance, hn::Mul(hn::Set(d, s), target));
    const auto is_open = hn::Gt(gap, hn::Zero(d));
    a = hn::Add(a, hn::IfThenZeroElse(is_open, chance));
    b = hn::Add(b, hn::IfThenElseZero(is_open, target));
    m = hn::Add(m, hn::IfThenElseZero(is_open, gap));
    u = hn::Sub(u, hn::IfThenZeroElse(is_open, gap));
  };
  const hn::CappedTag<double, running> d;
  const std::size_t whole = size / running * running;
  for (std::size_t j = 0; j < running; j += hn::Lanes(d)) {
    auto a = hn::Zero(d), b = hn::Zero(d), m = hn::Zero(d), u = hn::Zero(d);
    for (std::size_t i = j; i < whole; i += running) add(d, i, a, b, m, u);
    hn::StoreU(a, d, saturated + j);
    hn::StoreU(b, d, open + j);
    hn::StoreU(m, d, miss + j);
    hn::StoreU(u, d, unserved + j);
  }
  const hn::CappedTag<double, 1> one;
  for (std::size_t i = whole; i < size; ++i) {
    const std::size_t j = i - whole;
    auto a = hn::Set(one, saturated[j]), b = hn::Set(one, open[j]), m = hn::Set(one, miss[j]),
         u = hn::Set(one, unserved[j]);
    add(one, i, a, b, m, u);
    saturated[j] = hn::GetLane(a);
    open[j] = hn::GetLane(b);
    miss[j] = hn::GetLane(m);
    unserved[j] = hn::GetLane(u);
  }
  for (std::size_t j = 0; j < running; ++j) {
    total.saturated += saturated[j];
    total.open += open[j];
    total.miss += miss[j];
    total.unserved += unserved[j];
  }
}

OverlapSums Sums(std::span<const double> p, std::span<const double> q, double s) {
  OverlapSums total;
  for (std::size_t begin = 0; begin < p.size(); begin += block) {
    AddBlock(&p[begin], &q[begin], std::min(block, p.size() - begin), s, total);
  }
  total.unserved *= 1.0 / s;
  return total;
}

}  // namespace HWY_NAMESPACE
}  // namespace spectr
HWY_AFTER_NAMESPACE();
// NOLINTEND(readability-identifier-naming,modernize-concat-nested-namespaces)

#if HWY_ONCE
namespace spectr {

HWY_EXPORT(Sums);

Overlap OverlapSums::overlap(double s) const {
  const double beta = saturated + s * open;
  return beta < miss ? Overlap{beta, 1.0 - beta} : Overlap{1.0 - miss, miss};
}

OverlapSums overlap_sums(std::span<const double> p, std::span<const double> q, double s) {
  return HWY_DYNAMIC_DISPATCH(Sums)(p, q, s);
}

Overlap overlap(std::span<const double> p, std::span<const double> q, double rho) {
  SPECTR_CHECK(p.size() == q.size());
  SPECTR_CHECK(rho >= 1.0);
  return overlap_sums(p, q, 1.0 / rho).overlap(1.0 / rho);
}

double log_miss(Overlap o) {
  return o.beta < 0.5 ? std::log1p(-o.beta) : std::log(o.miss);
}

double accepted_per_test(Overlap o, std::size_t k) {
  constexpr double ulp = std::numeric_limits<double>::epsilon();
  const double n = static_cast<double>(k);
  if (o.beta < ulp / n) return n;  // quotients of a subnormal β lose digits
  return -std::expm1(n * log_miss(o)) / o.beta;
}

}  // namespace spectr
#endif
