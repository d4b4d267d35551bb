#pragma once

#include <bit>
#include <cmath>
#include <cstddef>

namespace spectr {

/// x^k by repeated squaring; x^0 = 1.
inline double power(double x, std::size_t k) {
  double result = 1.0;
  for (; k != 0; k >>= 1, x *= x) {
    if (k & 1) result *= x;
  }
  return result;
}

/// (a + w)^k − a^k for a, w ≥ 0, with a relative error of about k ulps at most, however small w is: only
/// positive terms are added. With b = a + w and D_n = b^n − a^n: D_2n = D_n (a^n + b^n) and D_{n+1} = D_n b +
/// a^n w.
inline double power_difference(double a, double w, std::size_t k) {
  if (k == 0) return 0.0;
  const double b = a + w;
  double a_n = a, b_n = b, difference = w;
  for (std::size_t bit = std::bit_floor(k) >> 1; bit != 0; bit >>= 1) {
    difference *= a_n + b_n;
    a_n *= a_n;
    b_n *= b_n;
    if (k & bit) {
      difference = difference * b + a_n * w;
      a_n *= a;
      b_n *= b;
    }
  }
  return difference;
}

/// The w ≥ 0 with (a + w)^k − a^k = m, for a, m ≥ 0 and k ≥ 1: the inverse of power_difference.
inline double power_width(double a, double m, std::size_t k) {
  const double base = power(a, k);
  const double root = 1.0 / static_cast<double>(k);
  if (m < base) return a * std::expm1(std::log1p(m / base) * root);
  return std::fmax(0.0, std::pow(base + m, root) - a);
}

}  // namespace spectr
