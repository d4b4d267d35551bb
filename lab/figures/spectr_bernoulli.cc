// SpecTr, appendix B: acceptance as a function of the number of drafts if the draft is Ber(0.25).

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "lab/distributions.h"
#include "lab/figures/drawn_plans.h"
#include "lab/figures/figures.h"
#include "spectr/transport/acceptance_bounds.h"

namespace spectr::lab {
namespace {

constexpr double draft = 0.25;
constexpr double targets[] = {0.1, 0.25, 0.75, 1.0};
constexpr std::size_t max_drafts = 16;

constexpr double compared_to = 8.0;  // drafts; with more of them both are too close to 1 to be distinguished

/// Returns the paper's comparison of k-Seq with the optimum, for k ≥ 2.
const char* said_of_k_seq(double b) {
  return b == 0.25 ? "both always 1" : b == 1.0 ? "equal" : "strictly worse";
}

/// Returns the same comparison for the computed values.
const char* found_of_k_seq(const DataTable& data, double b) {
  bool ones = true, equal = true, worse = true;
  for (const std::size_t row : data.where({{"b", b}, {"plan", drawn_k_seq.name}})) {
    if (data.number(row, "k") < 2.0 || data.number(row, "k") > compared_to) continue;
    const double accepted = data.number(row, "acceptance"), optimum = data.number(row, "optimum");
    const bool same = std::abs(accepted - optimum) <= 1e-9;
    ones = ones && std::abs(accepted - 1.0) <= 1e-9;
    equal = equal && same;
    worse = worse && !same && accepted < optimum;
  }
  return ones && equal ? "both always 1" : equal ? "equal" : worse ? "strictly worse" : "mixed";
}

Result<Report> against_drafts(std::string title, std::initializer_list<DrawnPlan> plans) {
  DataTable data({"b", "k", "plan", "acceptance", "optimum", "guaranteed"});
  const Distribution p = bernoulli(draft);
  for (const double b : targets) {
    const Distribution q = bernoulli(b);
    for (std::size_t k = 1; k <= max_drafts; ++k) {
      const double optimum = optimal_acceptance(p, q, k);
      for (const auto& plan : plans) {
        SPECTR_TRY(const double accepted, acceptance(plan.name, p, q, k));
        data.add({b, static_cast<double>(k), plan.name, accepted, optimum, optimum * guaranteed_share(k)});
      }
    }
  }

  Figure figure{std::move(title), {}};
  for (const double b : targets) {
    Panel panel{fmt::format("p = Ber({}), q = Ber({})", draft, b),
                {.label = "number of drafts k", .from = 0.0, .to = max_drafts + 1.0, .step = 2.0},
                {.label = "acceptance", .from = 0.0, .to = 1.05},
                {}};
    for (const auto& plan : plans) {
      const auto rows = data.where({{"b", b}, {"plan", plan.name}});
      panel.series.push_back({plan.title, Style::joined, plan.colour, points(data, rows, "k", "acceptance")});
    }
    const auto rows = data.where({{"b", b}, {"plan", plans.begin()->name}});
    panel.series.push_back({"guaranteed to k-Seq", Style::dashes, 7, points(data, rows, "k", "guaranteed")});
    figure.panels.push_back(std::move(panel));
  }

  std::vector<Line> summary;
  for (const double b : targets) {
    for (const auto& plan : plans) {
      const auto row = data.where({{"b", b}, {"k", 4.0}, {"plan", plan.name}}).front();
      summary.push_back({fmt::format("Ber({}) → Ber({}), k = 4, {}", draft, b, plan.title),
                         fmt::format("{:.6f}", data.number(row, "acceptance")),
                         std::string_view(plan.name) == drawn_optimal.name
                             ? fmt::format("{:.6f}", bernoulli_acceptance(draft, b, 4))
                             : "-"});
    }
    summary.push_back(
        {fmt::format("Ber({}) → Ber({}), k-Seq beside the optimum, k = 2 to {}", draft, b, compared_to),
         found_of_k_seq(data, b), said_of_k_seq(b)});
  }
  return Report{std::move(data), std::move(figure), std::move(summary)};
}

}  // namespace

Result<Report> spectr_bernoulli(const Context&) {
  return against_drafts("Acceptance of k drafts, Bernoulli laws", {drawn_optimal, drawn_k_seq});
}

Result<Report> spectr_recursive(const Context&) {
  return against_drafts("Recursive rejection on Bernoulli laws",
                        {drawn_optimal, drawn_k_seq, drawn_recursive});
}

}  // namespace spectr::lab
