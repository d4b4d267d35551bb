#pragma once

#include <cstdint>
#include <span>

namespace spectr::test {

/// Pearson's test of observed counts against a distribution: the probability that counts of that distribution
/// deviate at least as much. Cells are pooled in order until each expects at least 5; counts where the
/// distribution is 0 give 0. Requires: counts.size() == distribution.size(), a positive number of counts.
double chi_square_p_value(std::span<const std::uint64_t> counts, std::span<const double> distribution);

/// Q(a, x) = Γ(a, x)/Γ(a), the upper regularised incomplete gamma function, to about 1e-12. a > 0, x ≥ 0.
double upper_gamma(double a, double x);

}  // namespace spectr::test
