// The vector kernels, compiled once for each instruction set (names as Highway writes them). `d` stands for a
// vector type throughout: a full one in the bulk of a loop, one of a single lane for the rest, so that each
// operation is written once and an element's result does not depend on its place.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

// Highway's guard: included again for each target.
#if defined(SPECTR_VECTOR_OPS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECTR_VECTOR_OPS_INL
#undef SPECTR_VECTOR_OPS_INL
#else
#define SPECTR_VECTOR_OPS_INL
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace spectr {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Full = hn::ScalableTag<float>;
using Single = hn::CappedTag<float, 1>;

/// body(d, i) for all vectors of [0, n).
template <class Body>
HWY_INLINE void ForEach(std::size_t n, const Body& body) {
  const Full d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) body(d, i);
  for (; i < n; ++i) body(Single(), i);
}

/// Σ of the vectors term(d, i), always in the same order: four running vectors, then their lanes, then the
/// rest.
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

/// The same for sums of any length: sums of 128 numbers, which rounding cannot take far, added in double
/// precision.
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

float Dot(std::span<const float> x, const float* y) {
  return Sum(x.size(), [&](auto d, std::size_t i)
                           HWY_ATTR { return hn::Mul(hn::LoadU(d, x.data() + i), hn::LoadU(d, y + i)); });
}

/// Σ term(x[i]) in double precision, always in the same order on every instruction set: what a norm rounds
/// here, the whole layer sees. Number i is in running sum i mod 32; the rest is added to the first.
template <class Term>
HWY_INLINE double PreciseSum(std::span<const float> x, const Term& term) {
  constexpr std::size_t running = 32;
  const hn::CappedTag<double, 8> d;
  const hn::Rebind<float, decltype(d)> df;
  const auto numbers = [&](std::size_t i) HWY_ATTR { return hn::PromoteTo(d, hn::LoadU(df, x.data() + i)); };
  const std::size_t whole = x.size() / running * running;
  double sums[running];
  for (std::size_t j = 0; j < 8; j += hn::Lanes(d)) {
    auto a = hn::Zero(d), b = hn::Zero(d), c = hn::Zero(d), e = hn::Zero(d);
    for (std::size_t i = j; i < whole; i += running) {
      a = hn::Add(a, term(d, numbers(i)));
      b = hn::Add(b, term(d, numbers(i + 8)));
      c = hn::Add(c, term(d, numbers(i + 16)));
      e = hn::Add(e, term(d, numbers(i + 24)));
    }
    hn::StoreU(a, d, sums + j);
    hn::StoreU(b, d, sums + j + 8);
    hn::StoreU(c, d, sums + j + 16);
    hn::StoreU(e, d, sums + j + 24);
  }
  const hn::CappedTag<double, 1> one;
  for (std::size_t i = whole; i < x.size(); ++i)
    sums[0] += hn::GetLane(term(one, hn::Set(one, static_cast<double>(x[i]))));
  for (std::size_t half = running / 2; half > 0; half /= 2) {
    for (std::size_t j = 0; j < half; ++j) sums[j] += sums[j + half];
  }
  return sums[0];
}

void RmsNorm(std::span<const float> x, const float* weight, float epsilon, float* out) {
  const double squares = PreciseSum(x, [](auto, auto v) HWY_ATTR { return hn::Mul(v, v); });
  const double mean_square = squares / static_cast<double>(x.size());  // which may be larger than any float
  const auto factor = static_cast<float>(1.0 / std::sqrt(mean_square + static_cast<double>(epsilon)));
  ForEach(x.size(), [&](auto d, std::size_t i) HWY_ATTR {
    const auto scaled = hn::Mul(hn::LoadU(d, x.data() + i), hn::Set(d, factor));
    hn::StoreU(hn::Mul(scaled, hn::LoadU(d, weight + i)), d, out + i);
  });
}

void LayerNorm(std::span<const float> x, const float* weight, const float* bias, float epsilon, float* out) {
  const auto n = static_cast<double>(x.size());
  const auto mean = static_cast<float>(PreciseSum(x, [](auto, auto v) HWY_ATTR { return v; }) / n);
  const double squares = PreciseSum(x, [&](auto d, auto v) HWY_ATTR {
    const auto centred = hn::Sub(v, hn::Set(d, static_cast<double>(mean)));
    return hn::Mul(centred, centred);
  });
  const auto factor = static_cast<float>(1.0 / std::sqrt(squares / n + static_cast<double>(epsilon)));
  ForEach(x.size(), [&](auto d, std::size_t i) HWY_ATTR {
    const auto centred = hn::Sub(hn::LoadU(d, x.data() + i), hn::Set(d, mean));
    const auto scaled = hn::Mul(centred, hn::Set(d, factor));
    // Not one operation: it would round twice on some instruction sets and once on others.
    const auto weighted = hn::Mul(scaled, hn::LoadU(d, weight + i));
    hn::StoreU(hn::Add(weighted, hn::LoadU(d, bias + i)), d, out + i);
  });
}

void Add(std::span<float> x, const float* y) {
  ForEach(x.size(), [&](auto d, std::size_t i) HWY_ATTR {
    hn::StoreU(hn::Add(hn::LoadU(d, x.data() + i), hn::LoadU(d, y + i)), d, x.data() + i);
  });
}

/// z / (1 + exp(−u)), u at least −88 so that the exponential stays finite.
template <class D, class V>
HWY_INLINE V TimesSigmoid(D d, V z, V u) {
  const V decay = hn::Exp(d, hn::Min(hn::Neg(u), hn::Set(d, 88.0f)));
  return hn::Div(z, hn::Add(hn::Set(d, 1.0f), decay));
}

void SwiGlu(std::span<float> gate, const float* up) {
  ForEach(gate.size(), [&](auto d, std::size_t i) HWY_ATTR {
    const auto z = hn::LoadU(d, gate.data() + i);
    hn::StoreU(hn::Mul(TimesSigmoid(d, z, z), hn::LoadU(d, up + i)), d, gate.data() + i);
  });
}

void Gelu(std::span<float> x) {  // ½ (1 + tanh u) = 1 / (1 + exp(−2u)), 2 √(2/π) = 1.59576912
  ForEach(x.size(), [&](auto d, std::size_t i) HWY_ATTR {
    const auto z = hn::LoadU(d, x.data() + i);
    const auto cubic = hn::MulAdd(hn::Mul(hn::Set(d, 0.044715f), hn::Mul(z, z)), z, z);
    hn::StoreU(TimesSigmoid(d, z, hn::Mul(hn::Set(d, 1.59576912f), cubic)), d, x.data() + i);
  });
}

float Largest(std::span<const float> x) {
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

void Softmax(std::span<float> x) {
  const float largest = Largest(x);
  const double sum = LongSum(x.size(), [&](auto d, std::size_t i) HWY_ATTR {
    const auto power = hn::Exp(d, hn::Sub(hn::LoadU(d, x.data() + i), hn::Set(d, largest)));
    hn::StoreU(power, d, x.data() + i);
    return power;
  });
  const auto factor = static_cast<float>(1.0 / sum);
  ForEach(x.size(), [&](auto d, std::size_t i) HWY_ATTR {
    hn::StoreU(hn::Mul(hn::LoadU(d, x.data() + i), hn::Set(d, factor)), d, x.data() + i);
  });
}

void ExpDifferences(std::span<double> x, double largest, double scale) {
  const auto power = [&](auto d, std::size_t i) HWY_ATTR {
    const auto difference =
        hn::Mul(hn::Sub(hn::LoadU(d, x.data() + i), hn::Set(d, largest)), hn::Set(d, scale));
    const auto least = hn::Set(d, -0x1.6232bdd7abcd2p+9);       // −708.396…: exp of less is no normal number
    const auto exact = hn::Exp(d, hn::Max(difference, least));  // which is defined for finite numbers
    hn::StoreU(hn::IfThenElseZero(hn::Ge(difference, least), exact), d, x.data() + i);
  };
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= x.size(); i += lanes) power(d, i);
  for (; i < x.size(); ++i) power(hn::CappedTag<double, 1>(), i);
}

double LogSumExp(std::span<const float> x) {
  const float largest = Largest(x);
  const double sum = LongSum(x.size(), [&](auto d, std::size_t i) HWY_ATTR {
    return hn::Exp(d, hn::Sub(hn::LoadU(d, x.data() + i), hn::Set(d, largest)));
  });
  return static_cast<double>(largest) + std::log(sum);
}

/// nearest_half() with vectors for numbers.
void NearestHalves(std::span<const float> x, Half* out) {
  ForEach(x.size(), [&](auto d, std::size_t i) HWY_ATTR {
    const hn::RebindToUnsigned<decltype(d)> du;
    const hn::RebindToSigned<decltype(d)> di;
    const auto bits = hn::BitCast(du, hn::LoadU(d, x.data() + i));
    const auto size = hn::And(bits, hn::Set(du, 0x7FFF'FFFF));
    const auto cut = hn::Min(size, hn::Set(du, 0x477F'E000));
    const auto odd = hn::And(hn::ShiftRight<13>(cut), hn::Set(du, 1));
    const auto normal = hn::Sub(hn::ShiftRight<13>(hn::Add(hn::Add(cut, hn::Set(du, 0xFFF)), odd)),
                                hn::Set(du, (127 - 15) << 10));
    const auto raised = hn::Add(hn::BitCast(d, cut), hn::Set(d, 0.5f));
    const auto small = hn::Sub(hn::BitCast(du, raised), hn::BitCast(du, hn::Set(d, 0.5f)));
    const auto is_small = hn::Lt(hn::BitCast(di, cut), hn::Set(di, 0x3880'0000));
    const auto infinite = hn::Set(di, 0x7F80'0000);
    const auto is_finite = hn::Lt(hn::BitCast(di, size), infinite);
    const auto is_nan = hn::Gt(hn::BitCast(di, size), infinite);
    const auto number = hn::IfThenElse(is_small, hn::BitCast(di, small), hn::BitCast(di, normal));
    const auto special = hn::IfThenElse(is_nan, hn::Set(di, 0x7E00), hn::Set(di, 0x7C00));
    const auto half = hn::BitCast(du, hn::IfThenElse(is_finite, number, special));
    const auto sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 0x8000));
    const hn::Rebind<std::uint16_t, decltype(d)> dh;
    hn::StoreU(hn::DemoteTo(dh, hn::BitCast(di, hn::Or(half, sign))), dh,
               reinterpret_cast<std::uint16_t*>(out + i));
  });
}

void Rope(float* x, std::span<const float> cosines, const float* sines, bool interleaved) {
  const std::size_t half = cosines.size();
  ForEach(half, [&](auto d, std::size_t i) HWY_ATTR {
    const auto c = hn::LoadU(d, cosines.data() + i);
    const auto s = hn::LoadU(d, sines + i);
    auto a = hn::Zero(d), b = hn::Zero(d);
    if (interleaved) {
      hn::LoadInterleaved2(d, x + 2 * i, a, b);
    } else {
      a = hn::LoadU(d, x + i);
      b = hn::LoadU(d, x + half + i);
    }
    const auto turned_a = hn::NegMulAdd(b, s, hn::Mul(a, c));
    const auto turned_b = hn::MulAdd(b, c, hn::Mul(a, s));
    if (interleaved) {
      hn::StoreInterleaved2(turned_a, turned_b, d, x + 2 * i);
    } else {
      hn::StoreU(turned_a, d, x + i);
      hn::StoreU(turned_b, d, x + half + i);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace spectr
HWY_AFTER_NAMESPACE();

#endif  // SPECTR_VECTOR_OPS_INL
