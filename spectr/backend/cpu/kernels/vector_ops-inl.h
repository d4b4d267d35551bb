// The vector kernels, compiled once per instruction set. Names follow Highway's convention; `d` is a vector
// tag, see vector_loops-inl.h.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

// Highway's include guard, which permits one inclusion per target.
#if defined(SPECTR_VECTOR_OPS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECTR_VECTOR_OPS_INL
#undef SPECTR_VECTOR_OPS_INL
#else
#define SPECTR_VECTOR_OPS_INL
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "spectr/base/vector_loops-inl.h"

// Names follow Highway's convention.
// NOLINTBEGIN(readability-identifier-naming,modernize-concat-nested-namespaces,misc-definitions-in-headers)
HWY_BEFORE_NAMESPACE();
namespace spectr {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

float Dot(std::span<const float> x, const float* y) {
  return Sum(x.size(), [&](auto d, std::size_t i)
                           HWY_ATTR { return hn::Mul(hn::LoadU(d, x.data() + i), hn::LoadU(d, y + i)); });
}

/// Computes Σ term(x[i]) in double precision, in the same order on all instruction sets, because its rounding
/// affects a whole layer. Number i is in running sum i mod 32; the rest is added to the first.
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
  const double mean_square = squares / static_cast<double>(x.size());  // may exceed the range of float
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
    // Not fused: instruction sets without fma would round twice, others once.
    const auto weighted = hn::Mul(scaled, hn::LoadU(d, weight + i));
    hn::StoreU(hn::Add(weighted, hn::LoadU(d, bias + i)), d, out + i);
  });
}

void Add(std::span<float> x, const float* y) {
  ForEach(x.size(), [&](auto d, std::size_t i) HWY_ATTR {
    hn::StoreU(hn::Add(hn::LoadU(d, x.data() + i), hn::LoadU(d, y + i)), d, x.data() + i);
  });
}

/// Returns z / (1 + exp(−u)), with u clamped to at least −88 so that the exponential is finite.
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

void ClampedSwiGlu(std::span<float> gate, const float* up, float clamp) {
  ForEach(gate.size(), [&](auto d, std::size_t i) HWY_ATTR {
    const auto most = hn::Set(d, clamp), one = hn::Set(d, 1.0f);
    const auto g = hn::Min(hn::LoadU(d, gate.data() + i), most);
    const auto u = hn::Max(hn::Min(hn::LoadU(d, up + i), most), hn::Neg(most));
    const auto silu = TimesSigmoid(d, g, hn::Mul(hn::Set(d, 1.702f), g));
    hn::StoreU(hn::Mul(silu, hn::Add(u, one)), d, gate.data() + i);
  });
}

void MultiplyBySigmoid(std::span<float> x, const float* gate) {
  ForEach(x.size(), [&](auto d, std::size_t i) HWY_ATTR {
    hn::StoreU(TimesSigmoid(d, hn::LoadU(d, x.data() + i), hn::LoadU(d, gate + i)), d, x.data() + i);
  });
}

void GeluTanh(std::span<float> x) {  // ½ (1 + tanh u) = 1 / (1 + exp(−2u)), 2 √(2/π) = 1.59576912
  ForEach(x.size(), [&](auto d, std::size_t i) HWY_ATTR {
    const auto z = hn::LoadU(d, x.data() + i);
    const auto cubic = hn::MulAdd(hn::Mul(hn::Set(d, 0.044715f), hn::Mul(z, z)), z, z);
    hn::StoreU(TimesSigmoid(d, z, hn::Mul(hn::Set(d, 1.59576912f), cubic)), d, x.data() + i);
  });
}

/// With u = min(|z|, 13) / √2 and t = 1 / (1 + p u), 1 − erf u = (a₁ t + … + a₅ t⁵) exp(−u²) within 1.5e-7
/// (Abramowitz and Stegun, 7.1.26); Φ(−|z|) is half of it, and negligible beyond 13.
void Gelu(std::span<float> x) {
  ForEach(x.size(), [&](auto d, std::size_t i) HWY_ATTR {
    const auto z = hn::LoadU(d, x.data() + i), one = hn::Set(d, 1.0f);
    const auto u = hn::Mul(hn::Min(hn::Abs(z), hn::Set(d, 13.0f)), hn::Set(d, 0.707106781f));
    const auto t = hn::Div(one, hn::MulAdd(hn::Set(d, 0.3275911f), u, one));
    auto tail = hn::Set(d, 1.061405429f);
    for (const float a : {-1.453152027f, 1.421413741f, -0.284496736f, 0.254829592f})
      tail = hn::MulAdd(tail, t, hn::Set(d, a));
    tail = hn::Mul(hn::Mul(tail, t), hn::Exp(d, hn::Neg(hn::Mul(u, u))));
    tail = hn::Mul(tail, hn::Set(d, 0.5f));
    const auto share = hn::IfThenElse(hn::Lt(z, hn::Zero(d)), tail, hn::Sub(one, tail));
    hn::StoreU(hn::Mul(z, share), d, x.data() + i);
  });
}

void SoftCap(std::span<float> x, float cap) {
  ForEach(x.size(), [&](auto d, std::size_t i) HWY_ATTR {
    const auto share = hn::Div(hn::LoadU(d, x.data() + i), hn::Set(d, cap));
    hn::StoreU(hn::Mul(hn::Set(d, cap), hn::Tanh(d, share)), d, x.data() + i);
  });
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

/// Vectorizes round_to_f16() of f16.h.
void RoundToF16(std::span<const float> x, F16* out) {
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
// NOLINTEND(readability-identifier-naming,modernize-concat-nested-namespaces,misc-definitions-in-headers)

#endif  // SPECTR_VECTOR_OPS_INL
