// Loops over vectors, compiled once for each instruction set (named in Highway's style). `d` is a vector type
// throughout: a full vector in the bulk of a loop, a single lane in the remainder. Each operation is thus
// written once, and an element's result does not depend on its position.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

// Highway's include guard: this file is included once per target.
#if defined(SPECTR_VECTOR_LOOPS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECTR_VECTOR_LOOPS_INL
#undef SPECTR_VECTOR_LOOPS_INL
#else
#define SPECTR_VECTOR_LOOPS_INL
#endif

#include <hwy/highway.h>

// Names follow Highway's conventions.
// NOLINTBEGIN(readability-identifier-naming,modernize-concat-nested-namespaces,misc-definitions-in-headers)
HWY_BEFORE_NAMESPACE();
namespace spectr {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Full = hn::ScalableTag<float>;
using Single = hn::CappedTag<float, 1>;

/// Calls body(d, i) for all vectors of [0, n).
template <class Body>
HWY_INLINE void ForEach(std::size_t n, const Body& body) {
  const Full d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) body(d, i);
  for (; i < n; ++i) body(Single(), i);
}

/// Returns Σ term(d, i), always added in the same order: four running vectors, then their lanes, then the
/// remaining terms.
template <class Term>
HWY_INLINE float Sum(std::size_t n, const Term& term) {
  const Full d;
  const std::size_t lanes = hn::Lanes(d);
  auto a = hn::Zero(d), b = hn::Zero(d), c = hn::Zero(d), e = hn::Zero(d);
  std::size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    a = hn::Add(a, term(d, i));
    b = hn::Add(b, term(d, i + lanes));
    c = hn::Add(c, term(d, i + 2 * lanes));
    e = hn::Add(e, term(d, i + 3 * lanes));
  }
  for (; i + lanes <= n; i += lanes) a = hn::Add(a, term(d, i));
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
  for (; i < n; ++i) sum += hn::GetLane(term(Single(), i));
  return sum;
}

/// Returns Σ term(d, i) for any n: groups of 128 numbers, whose rounding error stays small, are summed in
/// single precision, and their sums in double precision.
template <class Term>
HWY_INLINE double LongSum(std::size_t n, const Term& term) {
  constexpr std::size_t most = 128;
  double sum = 0;
  for (std::size_t from = 0; from < n; from += most) {
    const auto later = [&](auto d, std::size_t i) HWY_ATTR { return term(d, from + i); };
    sum += static_cast<double>(Sum(std::min(most, n - from), later));
  }
  return sum;
}

/// Returns the largest number; NaN if an element is NaN or +∞.
HWY_INLINE float Largest(std::span<const float> x) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const Full d;
  const std::size_t lanes = hn::Lanes(d);
  const auto limit = hn::Set(d, infinity);
  auto largest = hn::Set(d, -infinity), usual = hn::Set(d, 1.0f);  // usual: 0 in lanes that saw NaN or +∞
  std::size_t i = 0;
  for (; i + lanes <= x.size(); i += lanes) {
    const auto v = hn::LoadU(d, x.data() + i);
    usual = hn::IfThenElseZero(hn::Lt(v, limit), usual);
    largest = hn::Max(largest, v);
  }
  bool wrong = !hn::AllTrue(d, hn::Ne(usual, hn::Zero(d)));
  float result = hn::GetLane(hn::MaxOfLanes(d, largest));
  for (; i < x.size(); ++i) {
    wrong |= !(x[i] < infinity);
    result = x[i] > result ? x[i] : result;
  }
  return wrong ? std::numeric_limits<float>::quiet_NaN() : result;
}

}  // namespace HWY_NAMESPACE
}  // namespace spectr
HWY_AFTER_NAMESPACE();
// NOLINTEND(readability-identifier-naming,modernize-concat-nested-namespaces,misc-definitions-in-headers)

#endif  // SPECTR_VECTOR_LOOPS_INL
