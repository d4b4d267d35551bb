#include "spectr/base/vector_math.h"

#include <cmath>

#include "spectr/base/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "spectr/base/vector_math.cc"
#include <hwy/foreach_target.h>
// Highway first compiles one copy per instruction set.
#include <hwy/contrib/math/math-inl.h>

#include "spectr/base/vector_loops-inl.h"

// Names follow Highway's conventions.
// NOLINTBEGIN(readability-identifier-naming,modernize-concat-nested-namespaces)
HWY_BEFORE_NAMESPACE();
namespace spectr {
namespace HWY_NAMESPACE {

float LargestOf(std::span<const float> x) {
  return Largest(x);
}

std::size_t NextAbove(std::span<const float> x, std::size_t from, float bar) {
  const Full d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = from;
  for (; i + lanes <= x.size(); i += lanes) {
    const auto above = hn::Gt(hn::LoadU(d, x.data() + i), hn::Set(d, bar));
    if (const auto first = hn::FindFirstTrue(d, above); first >= 0)
      return i + static_cast<std::size_t>(first);
  }
  for (; i < x.size() && !(x[i] > bar); ++i) {
  }
  return i;
}

/// Loads numbers as doubles.
template <class D>
HWY_INLINE hn::Vec<D> LoadDoubles(D d, const double* x) {
  return hn::LoadU(d, x);
}
template <class D>
HWY_INLINE hn::Vec<D> LoadDoubles(D d, const float* x) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), x));
}

template <class Number>
double ExpOf(std::span<const Number> x, double largest, double scale, std::span<double> out) {
  const auto power = [&](auto d, std::size_t i) HWY_ATTR {
    const auto difference =
        hn::Mul(hn::Sub(LoadDoubles(d, x.data() + i), hn::Set(d, largest)), hn::Set(d, scale));
    const auto least = hn::Set(d, -0x1.6232bdd7abcd2p+9);       // −708.396…: exp is subnormal below it
    const auto exact = hn::Exp(d, hn::Max(difference, least));  // exp needs a finite argument
    const auto result = hn::IfThenElseZero(hn::Ge(difference, least), exact);
    hn::StoreU(result, d, out.data() + i);
    return result;
  };
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  auto even = hn::Zero(d), odd = hn::Zero(d);
  std::size_t i = 0;
  for (; i + 2 * lanes <= x.size(); i += 2 * lanes) {
    even = hn::Add(even, power(d, i));
    odd = hn::Add(odd, power(d, i + lanes));
  }
  double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
  const hn::CappedTag<double, 1> one;
  for (; i < x.size(); ++i) sum += hn::GetLane(power(one, i));
  return sum;
}

double ExpOfFloats(std::span<const float> x, double largest, double scale, std::span<double> out) {
  return ExpOf(x, largest, scale, out);
}

double ExpOfDoubles(std::span<const double> x, double largest, double scale, std::span<double> out) {
  return ExpOf(x, largest, scale, out);
}

double LogSumExp(std::span<const float> x) {
  const float largest = Largest(x);
  const double sum = LongSum(x.size(), [&](auto d, std::size_t i) HWY_ATTR {
    return hn::Exp(d, hn::Sub(hn::LoadU(d, x.data() + i), hn::Set(d, largest)));
  });
  return static_cast<double>(largest) + std::log(sum);
}

}  // namespace HWY_NAMESPACE
}  // namespace spectr
HWY_AFTER_NAMESPACE();
// NOLINTEND(readability-identifier-naming,modernize-concat-nested-namespaces)

#if HWY_ONCE
namespace spectr {

HWY_EXPORT(LargestOf);
HWY_EXPORT(NextAbove);
HWY_EXPORT(ExpOfFloats);
HWY_EXPORT(ExpOfDoubles);
HWY_EXPORT(LogSumExp);

float largest(std::span<const float> x) {
  SPECTR_CHECK(!x.empty());
  return HWY_DYNAMIC_DISPATCH(LargestOf)(x);
}

std::size_t next_above(std::span<const float> x, std::size_t from, float bar) {
  return HWY_DYNAMIC_DISPATCH(NextAbove)(x, from, bar);
}

double exp_differences(std::span<const float> x, double largest, double scale, std::span<double> out) {
  SPECTR_CHECK(x.size() == out.size());
  return HWY_DYNAMIC_DISPATCH(ExpOfFloats)(x, largest, scale, out);
}

double exp_differences(std::span<const double> x, double largest, double scale, std::span<double> out) {
  SPECTR_CHECK(x.size() == out.size());
  return HWY_DYNAMIC_DISPATCH(ExpOfDoubles)(x, largest, scale, out);
}

double log_sum_exp(std::span<const float> x) {
  SPECTR_CHECK(!x.empty());
  return HWY_DYNAMIC_DISPATCH(LogSumExp)(x);
}

double largest(std::span<const double> x) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double max = -infinity;
  for (double number : x) {
    if (!(number < infinity)) return std::numeric_limits<double>::quiet_NaN();
    max = std::max(max, number);
  }
  return max;
}

std::size_t next_above(std::span<const double> x, std::size_t from, double bar) {
  while (from < x.size() && !(x[from] > bar)) ++from;
  return from;
}

double log_sum_exp(std::span<const double> x) {
  const double max = *std::ranges::max_element(x);
  double sum = 0.0;
  for (double logit : x) sum += std::exp(logit - max);
  return max + std::log(sum);
}

}  // namespace spectr
#endif
