#include "apps/bench/mean.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "spectr/base/check.h"

namespace spectr::bench {

Mean mean_of(std::span<const double> values) {
  SPECTR_CHECK(!values.empty());
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  const auto deviation = deviation_of(values);
  return {mean, deviation ? std::optional(*deviation / std::sqrt(n)) : std::nullopt};
}

std::optional<double> deviation_of(std::span<const double> values) {
  if (values.size() < 2) return {};
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0.0;
  for (double v : values) squares += (v - mean) * (v - mean);
  return std::sqrt(squares / (n - 1.0));
}

Mean ratio_of(std::span<const double> a, std::span<const double> b) {
  SPECTR_CHECK(a.size() == b.size());
  const double base = mean_of(b).value;
  SPECTR_CHECK(base > 0.0);
  const double ratio = mean_of(a).value / base;
  std::vector<double> deviations;
  for (std::size_t i = 0; i < a.size(); ++i) deviations.push_back(a[i] - ratio * b[i]);
  const auto error = mean_of(deviations).error;
  return {ratio, error ? std::optional(*error / base) : std::nullopt};
}

}  // namespace spectr::bench
