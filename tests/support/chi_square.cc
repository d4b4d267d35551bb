#include "tests/support/chi_square.h"

#include <cmath>
#include <cstddef>

namespace spectr::test {

// Uses the series of the lower function for x < a + 1, else the continued fraction (Lentz) of the upper one.
double upper_gamma(double a, double x) {
  if (x <= 0.0) return 1.0;
  const double scale = std::exp(a * std::log(x) - x - std::lgamma(a));
  if (x < a + 1.0) {
    double term = 1.0 / a, sum = term;
    for (double n = a + 1.0; term > sum * 1e-16; n += 1.0) sum += term *= x / n;
    return 1.0 - scale * sum;
  }
  constexpr double tiny = 1e-300;
  double b = x + 1.0 - a, c = 1.0 / tiny, d = 1.0 / b, fraction = d;
  for (int i = 1; i < 100'000; ++i) {
    const double an = -i * (i - a);
    b += 2.0;
    d = an * d + b;
    d = 1.0 / (std::abs(d) < tiny ? tiny : d);
    c = b + an / c;
    if (std::abs(c) < tiny) c = tiny;
    fraction *= d * c;
    if (std::abs(d * c - 1.0) < 1e-15) break;
  }
  return scale * fraction;
}

double chi_square_p_value(std::span<const std::uint64_t> counts, std::span<const double> distribution) {
  double total = 0.0;
  for (std::uint64_t n : counts) total += static_cast<double>(n);
  double statistic = 0.0, expected = 0.0, observed = 0.0;
  int cells = 0;
  const auto close_cell = [&] {
    statistic += (observed - expected) * (observed - expected) / expected;
    expected = observed = 0.0;
    ++cells;
  };
  for (std::size_t i = 0; i < distribution.size(); ++i) {
    if (distribution[i] <= 0.0 && counts[i] > 0) return 0.0;
    expected += total * distribution[i];
    observed += static_cast<double>(counts[i]);
    if (expected >= 5.0) close_cell();
  }
  if (expected > 0.0) close_cell();
  return upper_gamma(0.5 * (cells - 1), 0.5 * statistic);
}

}  // namespace spectr::test
