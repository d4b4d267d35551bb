#pragma once

#include <cstdint>
#include <span>

namespace spectr::test {

/// Returns the p-value of Pearson's chi-square test of observed counts against a distribution. Cells are
/// pooled in order until each expects at least 5. Returns 0 if a count is positive where the distribution is
/// 0. Requires: counts.size() == distribution.size(), a positive number of counts.
double chi_square_p_value(std::span<const std::uint64_t> counts, std::span<const double> distribution);

/// Returns Q(a, x) = Γ(a, x)/Γ(a), the regularised upper incomplete gamma function, to 1e-12. a > 0, x ≥ 0.
double upper_gamma(double a, double x);

}  // namespace spectr::test
