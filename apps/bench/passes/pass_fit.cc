#include "apps/bench/passes/pass_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace spectr::bench {
namespace {

/// Returns the number of rows that a pass computes.
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
  const auto share = fit->share_fixed(n.front());
  return {{"fixed", fit->fixed},
          {"per_row", fit->per_row},
          {"residual", fit->residual},
          {"share_fixed", share ? Json(*share) : Json(nullptr)}};
}

}  // namespace

std::optional<double> PassFit::share_fixed(double n) const {
  if (residual > effect || fixed < -residual || per_row < 0.0) return std::nullopt;
  const double begun = std::max(0.0, fixed);
  return begun + per_row * n > 0.0 ? std::optional(begun / (begun + per_row * n)) : std::nullopt;
}

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
  const double slope = products / squares, fixed = mean_y - slope * mean_n;
  double left = 0.0;
  for (std::size_t i = 0; i < n.size(); ++i) left += std::pow(y[i] - fixed - slope * n[i], 2.0) / count;
  const auto [least, largest] = std::ranges::minmax(n);
  return PassFit{fixed, slope, std::sqrt(left), std::abs(slope) * (largest - least)};
}

Json decomposition_of(const Json& rows) {
  return {{"ms", fit_of(rows, "ms")}, {"joules", fit_of(rows, "joules_per_run")}};
}

std::string decomposition_text(const Json& decomposition) {
  std::string text;
  for (const auto& [field, unit] : {std::pair{"ms", "ms"}, {"joules", "J"}}) {
    const Json& fit = decomposition[field];
    if (fit.is_null()) continue;
    const Json& share = fit["share_fixed"];
    text += fmt::format(
        "a pass over n rows: {:.4g} + {:.4g} n {}, residual {:.2g} {}; {}\n", fit["fixed"].get<double>(),
        fit["per_row"].get<double>(), unit, fit["residual"].get<double>(), unit,
        share.is_null() ? "too far from a line to tell what is fixed"
                        : fmt::format("fixed of the first pass: {:.0f} %", 100.0 * share.get<double>()));
  }
  return text;
}

}  // namespace spectr::bench
