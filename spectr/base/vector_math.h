#pragma once

#include <cstddef>
#include <span>

namespace spectr {

/// Loops over rows of logits and of probabilities, dispatched at run time to the machine's best instruction
/// set. Overloads for doubles are plain loops, except exp_differences: only tables have rows of doubles, and
/// they are short.

/// Returns the largest element of x; NaN if an element is NaN or +∞. Requires: x.size() ≥ 1.
float largest(std::span<const float> x);
double largest(std::span<const double> x);

/// Returns the first j ≥ from with x[j] > bar, or x.size() if there is none.
std::size_t next_above(std::span<const float> x, std::size_t from, float bar);
std::size_t next_above(std::span<const double> x, std::size_t from, double bar);

/// Sets out[j] to exp((x[j] − largest) · scale), within 4 ulp, or to 0 if that would be subnormal. Returns
/// the sum of out, with a relative error below n · 2⁻⁵³. `out` may be x itself. Requires: x[j] ≤ largest < ∞,
/// scale finite and ≥ 0, x[j] not NaN (−∞ gives 0), out.size() == x.size().
double exp_differences(std::span<const float> x, double largest, double scale, std::span<double> out);
double exp_differences(std::span<const double> x, double largest, double scale, std::span<double> out);
inline double exp_differences(std::span<double> x, double largest, double scale) {
  return exp_differences(x, largest, scale, x);
}

/// Returns log Σ exp(x[j]), with an error of at most 3e-6 for up to 2¹⁸ numbers. −∞ adds nothing. Returns NaN
/// if an element is NaN or +∞. Requires: an element above −∞.
double log_sum_exp(std::span<const float> x);
double log_sum_exp(std::span<const double> x);

}  // namespace spectr
