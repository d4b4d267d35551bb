// Arithmetic shared by kernels. Vulkan specifies the bits of float +, − and ×, and of integers, but not of
// fma, division, roots or e^x. Therefore everything here is built from the former, each operation rounded
// separately, and all devices give the same bits.

#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_spirv_intrinsics : require

// Rounding to nearest, ties to even; signed zeros, infinities and NaNs are preserved.
spirv_execution_mode(extensions = ["SPV_KHR_float_controls"], capabilities = [4467], 4462, 32);
spirv_execution_mode(extensions = ["SPV_KHR_float_controls"], capabilities = [4466], 4461, 32);

const uint none = 0xffffffffu;  // the offset of an empty operand
const float infinity = 1.0 / 0.0;

// One rounding each. Kernels must use these functions for all float additions and multiplications.
float add(float a, float b) {
  precise float c = a + b;
  return c;
}
float sub(float a, float b) {
  precise float c = a - b;
  return c;
}
float mul(float a, float b) {
  precise float c = a * b;
  return c;
}

bool is_nan(float x) {
  return (floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u;
}
/// Returns the larger number; if one of them is NaN, the other.
float larger(float a, float b) {
  return is_nan(a) ? b : is_nan(b) ? a : a < b ? b : a;
}

bool is_normal(uint exponent) {
  return exponent - 1u < 254u;
}

/// Returns a / b, correctly rounded: divides the fractions as integers, eight bits at a time.
float divide(float a, float b) {
  const uint x = floatBitsToUint(a), y = floatBitsToUint(b);
  const uint top = x >> 23 & 255u, bottom = y >> 23 & 255u;
  uint left = x & 0x7fffffu | 0x800000u;
  const uint by = y & 0x7fffffu | 0x800000u;
  int exponent = int(top) - int(bottom) + 127;
  if (left < by) {
    left <<= 1;
    --exponent;
  }
  if (!is_normal(top) || !is_normal(bottom) || exponent < 1 || exponent > 253) return a / b;
  uint quotient = 1u;  // 25 bits at the end
  left -= by;
  [[unroll]] for (int i = 0; i < 3; ++i) {
    left <<= 8;
    const uint digit = left / by;
    quotient = quotient << 8 | digit;
    left -= digit * by;
  }
  const uint fraction = quotient >> 1, up = quotient & 1u & (left != 0u ? 1u : fraction);
  return uintBitsToFloat((x ^ y) & 0x80000000u | (uint(exponent) << 23) + (fraction - 0x800000u) + up);
}

/// Returns the square root of x ≥ 0, correctly rounded, computed bit by bit.
float root(float x) {
  const uint bits = floatBitsToUint(x), exponent = bits >> 23 & 255u;
  if (!is_normal(exponent) || bits >> 31 != 0u) return sqrt(x);
  uint left = (bits & 0x7fffffu | 0x800000u) << (exponent % 2u == 0u ? 8 : 7);
  uint rest = 0u, found = 0u;  // 25 bits at the end
  for (int i = 0; i < 25; ++i) {
    rest = rest << 2 | left >> 30;
    left <<= 2;
    const uint trial = found << 2 | 1u;
    found <<= 1;
    if (rest >= trial) {
      rest -= trial;
      found |= 1u;
    }
  }
  // No square root lies exactly midway between two floats.
  return uintBitsToFloat((exponent + 127u >> 1 << 23) + ((found >> 1) - 0x800000u) + (found & 1u));
}

/// Returns e^x for x ≤ 0: 2ⁿ e^r with n = round(x / log 2), and a polynomial for e^r, |r| ≤ log(2) / 2.
/// Returns 0 below −87, where results would be denormal. The relative error is below 3 · 10⁻⁷.
float exp_of_negative(float x) {
  const float large = 12582912.0;  // 1.5 · 2²³: adding it rounds to an integer
  const float shifted = add(mul(x, 1.44269504), large), n = sub(shifted, large);
  const float r = sub(sub(x, mul(n, 0.693359375)), mul(n, -2.12194440e-4));
  float p = 1.9875691500e-4;
  p = add(mul(p, r), 1.3981999507e-3);
  p = add(mul(p, r), 8.3334519073e-3);
  p = add(mul(p, r), 4.1665795894e-2);
  p = add(mul(p, r), 1.6666665459e-1);
  p = add(mul(p, r), 5.0000001201e-1);
  const float y = add(add(mul(p, mul(r, r)), r), 1.0);
  if (is_nan(x)) return x;
  return x < -87.0 ? 0.0 : uintBitsToFloat(floatBitsToUint(y) + (floatBitsToUint(shifted) << 23));
}

/// Returns `factor` · σ(x), computed from e = e^−|x| as factor · (1 or e) / (1 + e).
float sigmoid_of(float x, float factor) {
  const float e = exp_of_negative(x < 0.0 ? x : -x);
  return divide(mul(factor, x < 0.0 ? e : 1.0), add(1.0, e));
}

/// Returns log(1 + x) for 0 ≤ x ≤ 1: 2 artanh(x / (2 + x)) by a polynomial.
float log_of_one_and(float x) {
  const float s = divide(x, add(2.0, x)), z = mul(s, s), twice = add(s, s);
  float p = 0.0666666701;
  p = add(mul(p, z), 0.0769230798);
  p = add(mul(p, z), 0.0909090936);
  p = add(mul(p, z), 0.111111112);
  p = add(mul(p, z), 0.142857149);
  p = add(mul(p, z), 0.2);
  p = add(mul(p, z), 0.333333343);
  return add(mul(mul(p, z), twice), twice);
}

/// Returns log(1 + e^x).
float softplus(float x) {
  const float e = exp_of_negative(x < 0.0 ? x : -x);
  return add(x < 0.0 ? 0.0 : x, log_of_one_and(e));
}

/// Returns cap · tanh(x / cap).
float soft_cap(float x, float cap) {
  const float y = divide(x, cap), e = exp_of_negative(mul(-2.0, y < 0.0 ? -y : y));
  const float size = mul(cap, divide(sub(1.0, e), add(1.0, e)));
  return y < 0.0 ? -size : size;
}

/// Converts an F16 number, given by its bits, to a float.
float of_half(uint bits) {
  return unpackHalf2x16(bits & 0xffffu).x;
}
/// Rounds to F16, ties to even, saturating at ±65504; infinities and NaNs are preserved.
uint half_of(float x) {
  const uint bits = floatBitsToUint(x), size = bits & 0x7fffffffu, cut = min(size, 0x477fe000u);
  const uint normal = (cut + 0xfffu + (cut >> 13 & 1u) >> 13) - (112u << 10);
  // F16 numbers below 2⁻¹⁴ are multiples of 2⁻²⁴, as are floats from ½ to 1.
  const uint small = floatBitsToUint(add(uintBitsToFloat(cut), 0.5)) - floatBitsToUint(0.5);
  const uint number = cut < 0x38800000u ? small : normal;
  return (size < 0x7f800000u ? number : size == 0x7f800000u ? 0x7c00u : 0x7e00u) | bits >> 16 & 0x8000u;
}
