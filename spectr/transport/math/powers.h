#pragma once

#include <bit>
#include <cmath>
#include <cstddef>

namespace spectr {

/// Returns x^k by repeated squaring; x^0 = 1.
inline double power(double x, std::size_t k) {
  double result = 1.0;
  for (; k != 0; k >>= 1, x *= x) {
    if (k & 1) result *= x;
  }
  return result;
}

/// Returns ((a + w)^k − a^k) / w for a, w ≥ 0, the mean of k x^{k−1} over [a, a + w]. Only positive terms are
/// added, so the relative error is at most about k ulps, however small w is. With b = a + w and
/// E_n = Σ_{i<n} a^i b^{n−1−i}: E_2n = E_n (a^n + b^n) and E_{n+1} = E_n b + a^n.
inline double power_quotient(double a, double w, std::size_t k) {
  if (k == 0) return 0.0;
  const double b = a + w;
  double a_n = a, b_n = b, quotient = 1.0;
  for (std::size_t bit = std::bit_floor(k) >> 1; bit != 0; bit >>= 1) {
    quotient *= a_n + b_n;
    a_n *= a_n;
    b_n *= b_n;
    if (k & bit) {
      quotient = quotient * b + a_n;
      a_n *= a;
      b_n *= b;
    }
  }
  return quotient;
}

/// Returns (a + w)^k − a^k for a, w ≥ 0, with the same relative error; a subnormal result is rounded.
inline double power_difference(double a, double w, std::size_t k) {
  return power_quotient(a, w, k) * w;
}

/// Returns the w ≥ 0 with (a + w)^k − a^k = m, for a, m ≥ 0 and k ≥ 1: the inverse of power_difference.
inline double power_width(double a, double m, std::size_t k) {
  const double base = power(a, k);
  const double root = 1.0 / static_cast<double>(k);
  if (m < base) return a * std::expm1(std::log1p(m / base) * root);
  return std::fmax(0.0, std::pow(base + m, root) - a);
}

}  // namespace spectr
