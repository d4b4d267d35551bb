#include "apps/bench/pass_fit.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace spectr::bench {
namespace {

/// The rows that a pass computes.
double rows_of(const Json& row) {
  const double all = row["length"].get<double>() * row["batch"].get<double>();
  return row["independent"].get<bool>() ? all : all + 1.0;
}

Json fit_of(const Json& rows, const char* field) {
  std::vector<double> n, y;
  for (const Json& row : rows) {
    if (row[field].is_null()) return nullptr;
    n.push_back(rows_of(row));
    y.push_back(row[field].get<double>());
  }
  const auto fit = fit_passes(n, y);
  if (!fit) return nullptr;
  return {{"fixed", fit->fixed}, {"per_row", fit->per_row}, {"share_fixed", fit->share_fixed(n.front())}};
}

}  // namespace

std::optional<PassFit> fit_passes(std::span<const double> n, std::span<const double> y) {
  if (n.empty()) return std::nullopt;
  double mean_n = 0.0, mean_y = 0.0, squares = 0.0, products = 0.0;
  const auto count = static_cast<double>(n.size());
  for (std::size_t i = 0; i < n.size(); ++i) {
    mean_n += n[i] / count;
    mean_y += y[i] / count;
  }
  for (std::size_t i = 0; i < n.size(); ++i) {
    squares += (n[i] - mean_n) * (n[i] - mean_n);
    products += (n[i] - mean_n) * (y[i] - mean_y);
  }
  if (!(squares > 0.0)) return std::nullopt;
  const double slope = products / squares;
  return PassFit{mean_y - slope * mean_n, slope};
}

Json decomposition_of(const Json& rows) {
  return {{"ms", fit_of(rows, "mean_ms")}, {"joules", fit_of(rows, "joules_per_run")}};
}

std::string decomposition_text(const Json& decomposition) {
  std::string text;
  for (const auto& [field, unit] : {std::pair{"ms", "ms"}, {"joules", "J"}}) {
    const Json& fit = decomposition[field];
    if (fit.is_null()) continue;
    text += fmt::format("a pass over n rows: {:.4g} + {:.4g} n {}; fixed of the first pass: {:.0f} %\n",
                        fit["fixed"].get<double>(), fit["per_row"].get<double>(), unit,
                        100.0 * fit["share_fixed"].get<double>());
  }
  return text;
}

}  // namespace spectr::bench
