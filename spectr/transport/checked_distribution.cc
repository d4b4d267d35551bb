#include "spectr/transport/checked_distribution.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

#include "spectr/base/recycled.h"

namespace spectr {
namespace {

template <class T>
Result<Distribution> checked(std::span<const T> row, std::string_view name) {
  constexpr double tolerance = std::is_same_v<T, float> ? float_tolerance : double_tolerance;
  RecycledVector<double> weights(row.begin(), row.end());
  double total = 0.0;
  bool negative = false;
  for (const double w : weights) {
    negative |= !(w >= 0.0);
    total += w;
  }
  if (negative || !std::isfinite(total)) {
    const auto bad = std::ranges::find_if(weights, [](double w) { return !(w >= 0.0) || !std::isfinite(w); });
    if (bad != weights.end())
      return error("{}[{}] is {}, not a probability", name, bad - weights.begin(), *bad);
  }
  if (!(std::abs(total - 1.0) <= tolerance))
    return error("{} sums to {:.9g}, not to 1 within {}", name, total, tolerance);
  return Distribution::from_weights(std::move(weights), total);
}

}  // namespace

Result<Distribution> checked_distribution(const LogitValues& probabilities, std::string_view name) {
  return std::visit([&](const auto& values) { return checked(values, name); }, probabilities);
}

}  // namespace spectr
