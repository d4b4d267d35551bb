#include "spectr/transport/math/undecided.h"

#include <algorithm>
#include <cstddef>

#include "spectr/base/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "spectr/transport/math/undecided.cc"
#include <hwy/foreach_target.h>
// Highway first compiles one copy per instruction set.
#include <hwy/highway.h>

// Names follow Highway's conventions.
// NOLINTBEGIN(readability-identifier-naming,modernize-concat-nested-namespaces)
HWY_BEFORE_NAMESPACE();
namespace spectr {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Token i goes to running sum i mod 8, as in overlap.cc. The sums are gathered per block.
constexpr std::size_t running = 8, block = 1024;

/// Adds the sums of `size` ≤ block tokens.
void AddBlock(const double* p, const double* q, std::size_t size, double low, double high, SplitSums& total) {
  double open_q[running], open_gap[running], saturated_p[running], saturated_gap[running],
      undecided_q[running];
  const auto add = [&](auto d, std::size_t i, auto& oq, auto& og, auto& sp, auto& sg, auto& uq) HWY_ATTR {
    const auto chance = hn::LoadU(d, p + i), target = hn::LoadU(d, q + i);
    const auto above = hn::Sub(chance, hn::Mul(hn::Set(d, high), target));
    const auto below = hn::Sub(hn::Mul(hn::Set(d, low), target), chance);
    const auto open = hn::Ge(above, hn::Zero(d));
    const auto saturated = hn::AndNot(open, hn::Ge(below, hn::Zero(d)));
    oq = hn::Add(oq, hn::IfThenElseZero(open, target));
    og = hn::Add(og, hn::IfThenElseZero(open, above));
    sp = hn::Add(sp, hn::IfThenElseZero(saturated, chance));
    sg = hn::Add(sg, hn::IfThenElseZero(saturated, below));
    uq = hn::Add(uq, hn::IfThenZeroElse(hn::Or(open, saturated), target));
  };
  const hn::CappedTag<double, running> d;
  const std::size_t whole = size / running * running;
  for (std::size_t j = 0; j < running; j += hn::Lanes(d)) {
    auto oq = hn::Zero(d), og = hn::Zero(d), sp = hn::Zero(d), sg = hn::Zero(d), uq = hn::Zero(d);
    for (std::size_t i = j; i < whole; i += running) add(d, i, oq, og, sp, sg, uq);
    hn::StoreU(oq, d, open_q + j);
    hn::StoreU(og, d, open_gap + j);
    hn::StoreU(sp, d, saturated_p + j);
    hn::StoreU(sg, d, saturated_gap + j);
    hn::StoreU(uq, d, undecided_q + j);
  }
  const hn::CappedTag<double, 1> one;
  for (std::size_t i = whole; i < size; ++i) {
    const std::size_t j = i - whole;
    auto oq = hn::Set(one, open_q[j]), og = hn::Set(one, open_gap[j]), sp = hn::Set(one, saturated_p[j]),
         sg = hn::Set(one, saturated_gap[j]), uq = hn::Set(one, undecided_q[j]);
    add(one, i, oq, og, sp, sg, uq);
    open_q[j] = hn::GetLane(oq);
    open_gap[j] = hn::GetLane(og);
    saturated_p[j] = hn::GetLane(sp);
    saturated_gap[j] = hn::GetLane(sg);
    undecided_q[j] = hn::GetLane(uq);
  }
  for (std::size_t j = 0; j < running; ++j) {
    total.open_q += open_q[j];
    total.open_gap += open_gap[j];
    total.saturated_p += saturated_p[j];
    total.saturated_gap += saturated_gap[j];
    total.undecided_q += undecided_q[j];
  }
}

/// Moves the undecided tokens to out_p, out_q, which may be p, q, and returns their number.
std::size_t KeepUndecided(const double* p, const double* q, std::size_t size, double low, double high,
                          double* out_p, double* out_q) {
  std::size_t kept = 0;
  const auto keep = [&](auto d, std::size_t i) HWY_ATTR {
    const auto chance = hn::LoadU(d, p + i), target = hn::LoadU(d, q + i);
    const auto above = hn::Sub(chance, hn::Mul(hn::Set(d, high), target));
    const auto below = hn::Sub(hn::Mul(hn::Set(d, low), target), chance);
    const auto undecided = hn::Not(hn::Or(hn::Ge(above, hn::Zero(d)), hn::Ge(below, hn::Zero(d))));
    hn::CompressBlendedStore(chance, undecided, d, out_p + kept);
    kept += hn::CompressBlendedStore(target, undecided, d, out_q + kept);
  };
  const hn::ScalableTag<double> d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= size; i += hn::Lanes(d)) keep(d, i);
  for (; i < size; ++i) keep(hn::CappedTag<double, 1>(), i);
  return kept;
}

SplitSums SplitTokens(const double* p, const double* q, std::size_t size, double low, double high,
                      double* out_p, double* out_q) {
  SplitSums total;
  for (std::size_t begin = 0; begin < size; begin += block) {
    const std::size_t n = std::min(block, size - begin);
    AddBlock(p + begin, q + begin, n, low, high, total);
    total.undecided +=
        KeepUndecided(p + begin, q + begin, n, low, high, out_p + total.undecided, out_q + total.undecided);
  }
  return total;
}

}  // namespace HWY_NAMESPACE
}  // namespace spectr
HWY_AFTER_NAMESPACE();
// NOLINTEND(readability-identifier-naming,modernize-concat-nested-namespaces)

#if HWY_ONCE
namespace spectr {

HWY_EXPORT(SplitTokens);

Undecided::Undecided(std::span<const double> p, std::span<const double> q, double low, double high)
    : low_(low), high_(high), p_(p.size()), q_(p.size()) {
  SPECTR_CHECK(p.size() == q.size() && low > 0.0 && low <= high);
  split(p.data(), q.data(), p.size());
}

void Undecided::narrow(double low, double high) {
  SPECTR_CHECK(low_ <= low && low <= high && high <= high_);
  found_.open_gap += (high_ - high) * found_.open_q;
  const double rise = low / low_;
  found_.saturated_gap = rise * found_.saturated_gap + (rise - 1.0) * found_.saturated_p;
  low_ = low;
  high_ = high;
  split(p_.data(), q_.data(), found_.undecided);
}

void Undecided::split(const double* p, const double* q, std::size_t n) {
  const SplitSums more = HWY_DYNAMIC_DISPATCH(SplitTokens)(p, q, n, low_, high_, p_.data(), q_.data());
  found_.open_q += more.open_q;
  found_.open_gap += more.open_gap;
  found_.saturated_p += more.saturated_p;
  found_.saturated_gap += more.saturated_gap;
  found_.undecided_q = more.undecided_q;
  found_.undecided = more.undecided;
}

OverlapSums Undecided::sums(double s) const {
  OverlapSums sums = overlap_sums({p_.data(), found_.undecided}, {q_.data(), found_.undecided}, s);
  sums.saturated += found_.saturated_p;
  sums.open += found_.open_q;
  sums.miss += found_.open_gap + (high_ - s) * found_.open_q;
  sums.unserved += found_.saturated_gap / low_ + (1.0 / low_ - 1.0 / s) * found_.saturated_p;
  return sums;
}

}  // namespace spectr
#endif
