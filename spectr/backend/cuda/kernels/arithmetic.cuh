#pragma once

// Arithmetic shared by kernels.

#include "spectr/backend/cuda/kernels/device.h"

namespace spectr::cuda {

/// Returns e^x for x ≤ 0, with the same bits on all devices: 2ⁿ e^r with n = round(x / log 2), and a
/// polynomial for e^r, |r| ≤ log(2) / 2. Returns 0 below −87, where results would be denormal, and NaN for
/// NaN, which needs a special case.
SPECTR_DEVICE float exp_of_negative(float x) {
  constexpr float large = 12582912.0f;  // 1.5 · 2²³: adding it rounds to an integer
  const float shifted = fma(x, 1.44269504f, large), n = sub(shifted, large);
  const float r = fma(n, 2.12194440e-4f, fma(n, -0.693359375f, x));
  float p = 1.9875691500e-4f;
  p = fma(p, r, 1.3981999507e-3f);
  p = fma(p, r, 8.3334519073e-3f);
  p = fma(p, r, 4.1665795894e-2f);
  p = fma(p, r, 1.6666665459e-1f);
  p = fma(p, r, 5.0000001201e-1f);
  const float y = add(fma(p, mul(r, r), r), 1.0f);
  if (!(x >= -87.0f)) return x < -87.0f ? 0.0f : x;
  return float_of(bits_of(y) + (bits_of(shifted) << 23));
}

/// Returns x / (1 + e^−x), computed from e^−|x|.
SPECTR_DEVICE float silu(float x) {
  const float e = exp_of_negative(x < 0 ? x : -x);
  return divide(mul(x, x < 0 ? e : 1.0f), add(1.0f, e));
}

/// Returns 1 / (1 + e^−x).
SPECTR_DEVICE float sigmoid(float x) {
  const float e = exp_of_negative(x < 0 ? x : -x);
  return divide(x < 0 ? e : 1.0f, add(1.0f, e));
}

/// Returns x / 2 · (1 + tanh(√(2/π) (x + 0.044715 x³))), computed as x σ(2 …).
SPECTR_DEVICE float gelu(float x) {
  const float u = mul(1.5957691216f, add(x, mul(0.044715f, mul(mul(x, x), x))));
  const float e = exp_of_negative(u < 0 ? u : -u);
  return divide(mul(x, u < 0 ? e : 1.0f), add(1.0f, e));
}

/// Returns log(1 + x) for 0 ≤ x ≤ 1: 2 artanh(x / (2 + x)) by a polynomial.
SPECTR_DEVICE float log_of_one_and(float x) {
  const float s = divide(x, add(2.0f, x)), z = mul(s, s), twice = add(s, s);
  float p = 1.0f / 15.0f;
  p = add(mul(p, z), 1.0f / 13.0f);
  p = add(mul(p, z), 1.0f / 11.0f);
  p = add(mul(p, z), 1.0f / 9.0f);
  p = add(mul(p, z), 1.0f / 7.0f);
  p = add(mul(p, z), 1.0f / 5.0f);
  p = add(mul(p, z), 1.0f / 3.0f);
  return add(mul(mul(p, z), twice), twice);
}

/// Returns log(1 + e^x).
SPECTR_DEVICE float softplus(float x) {
  const float e = exp_of_negative(x < 0 ? x : -x);
  return add(x < 0 ? 0.0f : x, log_of_one_and(e));
}

/// Returns cap · tanh(x / cap).
SPECTR_DEVICE float soft_cap(float x, float cap) {
  const float y = divide(x, cap), e = exp_of_negative(mul(-2.0f, y < 0 ? -y : y));
  const float size = mul(cap, divide(sub(1.0f, e), add(1.0f, e)));
  return y < 0 ? -size : size;
}

/// Returns, in all lanes, the pairwise sum over groups of `lanes` neighbouring lanes. Its bits are the same
/// in all of them.
template <int lanes>
SPECTR_DEVICE float sum_of_lanes(float v) {
  SPECTR_UNROLL
  for (int h = 1; h < lanes; h *= 2) v = add(v, shuffle_xor(v, h));
  return v;
}
template <int lanes>
SPECTR_DEVICE float largest_of_lanes(float v) {
  SPECTR_UNROLL
  for (int h = 1; h < lanes; h *= 2) v = larger(v, shuffle_xor(v, h));
  return v;
}

SPECTR_DEVICE Four sum_of_fours(Four a, Four b) {
  return {add(a.x, b.x), add(a.y, b.y), add(a.z, b.z), add(a.w, b.w)};
}

}  // namespace spectr::cuda
