#pragma once

#include <cstddef>
#include <span>

namespace spectr {

/// Loops over rows of logits and of probabilities, dispatched at run time to the best instruction set of the
/// machine. What takes doubles are plain loops, but for exp_differences: only tables have such rows, of a few
/// numbers.

/// The largest of x; NaN where one of them is NaN or +∞. Requires: x.size() ≥ 1.
float largest(std::span<const float> x);
double largest(std::span<const double> x);

/// The first j ≥ from with x[j] > bar; x.size() where there is none.
std::size_t next_above(std::span<const float> x, std::size_t from, float bar);
std::size_t next_above(std::span<const double> x, std::size_t from, double bar);

/// out[j] ← exp((x[j] − largest) · scale), within 4 units in the last place; 0 where that would be subnormal.
/// Gives their sum, with an error below n · 2⁻⁵³ of it. `out` may be x itself. Requires: x[j] ≤ largest < ∞,
/// scale ≥ 0 finite, x[j] not NaN; −∞ gives 0. out.size() == x.size().
double exp_differences(std::span<const float> x, double largest, double scale, std::span<double> out);
double exp_differences(std::span<const double> x, double largest, double scale, std::span<double> out);
inline double exp_differences(std::span<double> x, double largest, double scale) {
  return exp_differences(x, largest, scale, x);
}

/// log Σ exp(x[j]), off by at most 3e-6 for up to 2¹⁸ numbers. −∞ adds nothing; NaN where an entry is NaN or
/// +∞. Requires: an entry above −∞.
double log_sum_exp(std::span<const float> x);
double log_sum_exp(std::span<const double> x);

}  // namespace spectr
