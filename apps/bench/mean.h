#pragma once

#include <optional>
#include <span>

namespace spectr::bench {

/// A mean and its standard error; a single value has no error.
struct Mean {
  double value;
  std::optional<double> error;
};

/// Σ xᵢ/n ± s/√n, s² = Σ (xᵢ − mean)²/(n − 1). Requires: at least one value.
Mean mean_of(std::span<const double> values);

/// Returns the sample standard deviation s, s² = Σ (xᵢ − mean)²/(n − 1). None for fewer than two values.
std::optional<double> deviation_of(std::span<const double> values);

/// Returns r = Σ aᵢ/Σ bᵢ for paired values. By the delta method, its standard error is that of the mean of aᵢ
/// − r bᵢ, divided by the mean of b. Requires: as many a as b, at least one, Σ b > 0.
Mean ratio_of(std::span<const double> a, std::span<const double> b);

}  // namespace spectr::bench
