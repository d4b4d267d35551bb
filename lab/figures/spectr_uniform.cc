// SpecTr, appendix B: uniform distributions, on which the optimum, k-Seq and recursive rejection are equal.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <variant>

#include "lab/distributions.h"
#include "lab/figures/figures.h"
#include "spectr/transport/acceptance_bounds.h"

namespace spectr::lab {
namespace {

constexpr std::size_t d = 120, max_drafts = 16;
constexpr std::size_t ratios[] = {2, 4, 12};

}  // namespace

Result<Report> spectr_uniform(const Context&) {
  DataTable data({"r", "k", "plan", "acceptance", "closed_form"});
  const Distribution p = uniform(d, d);
  double worst = 0.0, worst_factor = 0.0;
  SPECTR_TRY(const PlanRule* k_seq, find_plan("k-seq"));
  for (const std::size_t r : ratios) {
    const Distribution q = uniform(d / r, d);
    for (std::size_t k = 1; k <= max_drafts; ++k) {
      const double closed = uniform_acceptance(static_cast<double>(r), k);
      SPECTR_TRY(const auto built, k_seq->build(DraftDistributions(p, k), q, {}));
      const double rho = std::get<double>(built->parameters().at("rho"));
      worst_factor = std::max(worst_factor, std::abs(rho - static_cast<double>(r) * closed));
      for (const char* plan : {"optimal", "k-seq", "recursive"}) {
        SPECTR_TRY(const double accepted, acceptance(plan, p, q, k));
        worst = std::max(worst, std::abs(accepted - closed));
        data.add({static_cast<double>(r), static_cast<double>(k), plan, accepted, closed});
      }
    }
  }

  Panel panel{fmt::format("p = U({}), q = U({}/r)", d, d),
              {.label = "number of drafts k", .from = 0.0, .to = max_drafts + 1.0, .step = 2.0},
              {.label = "acceptance", .from = 0.0, .to = 1.05},
              {}};
  std::vector<Line> summary;
  for (std::size_t i = 0; i < std::size(ratios); ++i) {
    const auto r = static_cast<double>(ratios[i]);
    const auto rows = data.where({{"r", r}, {"plan", "k-seq"}});
    panel.series.push_back(
        {fmt::format("1 − (1 − 1/{})ᵏ", r), Style::line, i, points(data, rows, "k", "closed_form")});
    panel.series.push_back({i + 1 == std::size(ratios) ? "optimum, k-Seq, recursive" : "", Style::marks, i,
                            points(data, rows, "k", "acceptance")});
    summary.push_back({fmt::format("U({}) → U({}), k = 4, each plan", d, d / ratios[i]),
                       fmt::format("{:.6f}", data.number(rows[3], "acceptance")),
                       fmt::format("{:.6f}", data.number(rows[3], "closed_form"))});
  }
  summary.push_back({"largest |acceptance − closed form|", fmt::format("{:.1e}", worst), "0"});
  summary.push_back({"largest |ρ* − r (1 − (1 − 1/r)ᵏ)| of k-Seq", fmt::format("{:.1e}", worst_factor), "0"});
  return Report{
      std::move(data), {"Acceptance of k drafts, uniform laws", {std::move(panel)}}, std::move(summary)};
}

}  // namespace spectr::lab
