// SpecTr++, figures 1 and 2: k-Seq, STr+ and STr++ compared with the optimum on random pairs of
// distributions.

#include <fmt/format.h>

#include <algorithm>
#include <variant>
#include <vector>

#include "lab/distributions.h"
#include "lab/figures/drawn_plans.h"
#include "lab/figures/figures.h"
#include "lab/theory/subset_k_seq.h"
#include "spectr/transport/acceptance_bounds.h"

namespace spectr::lab {
namespace {

constexpr std::size_t max_drafts = 5;

/// A curve and its column in the table.
struct Curve {
  const char* column;
  DrawnPlan plan;
};
constexpr Curve curves[] = {{"str", drawn_k_seq},
                            {"str_plus", drawn_str_plus},
                            {"str_plus_plus", drawn_str_plus_plus},
                            {"best_subsets", {"", "best nested prefixes", 6}},  // found by search, not a plan
                            {"optimum", drawn_optimal}};

struct Comparison {
  double mean = 0.0, worst_ratio = 1.0;
};

Comparison compare(const DataTable& pairs, std::size_t k, const char* column) {
  Comparison c;
  const auto rows = pairs.where({{"k", static_cast<double>(k)}});
  for (const std::size_t row : rows) {
    const double accepted = pairs.number(row, column);
    c.mean += accepted / static_cast<double>(rows.size());
    c.worst_ratio = std::min(c.worst_ratio, accepted / pairs.number(row, "optimum"));
  }
  return c;
}

/// Adds the paper's Bernoulli example: p = (1/2, 1/2), q = (1/4, 3/4), k = 2.
Result<void> bernoulli_example(std::vector<Line>& summary) {
  const Distribution p = bernoulli(0.5), q = bernoulli(0.75);
  SPECTR_TRY(const PlanRule* str, find_plan("k-seq"));
  SPECTR_TRY(const auto plan, str->build(DraftDistributions(p, 2), q, {}));
  const double rho = std::get<double>(plan->parameters().at("rho"));
  summary.push_back({"Ber(½) → Ber(¾), k = 2: 1/ρ* of STr", fmt::format("{:.3f}", 1.0 / rho), "0.764"});
  summary.push_back({"… rejected by STr", fmt::format("{:.4f}", 1.0 - plan->acceptance()), "≈ 0.095"});
  summary.push_back({"… accepted by STr of a draft 0", fmt::format("{:.3f}", q[0] / (rho * p[0])), "0.382"});
  for (const std::size_t k : {1, 2}) {
    summary.push_back({fmt::format("… rejected by the optimum of k = {}", k),
                       fmt::format("{:.4f}", 1.0 - optimal_acceptance(p, q, k)), k == 1 ? "0.25" : "0"});
  }
  SPECTR_TRY(const PlanRule* str_plus, find_plan("str+"));
  SPECTR_TRY(const auto plus, str_plus->build(DraftDistributions(p, 2), q, {}));
  const auto alphas = std::get<std::vector<double>>(plus->parameters().at("alphas"));
  summary.push_back({"… rejected by STr⁺", fmt::format("{:.4f}", 1.0 - plus->acceptance()), "0"});
  summary.push_back({"… α of STr⁺", fmt::format("({:.2f}, {:.2f})", alphas[0], alphas[1]), "(0, 2)"});
  return {};
}

Result<Report> random_pairs(std::size_t vocabulary, const Context& context) {
  const std::size_t pairs = context.runs_or(100, 3), last_k = context.quick ? 4 : max_drafts;
  DataTable data({"pair", "k", "str", "str_plus", "str_plus_plus", "best_subsets", "optimum"});
  std::mt19937 generator(context.seed);
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    const Distribution p = random_distribution(vocabulary, generator),
                       q = random_distribution(vocabulary, generator);
    for (std::size_t k = 2; k <= last_k; ++k) {
      const double optimum = optimal_acceptance(p, q, k);
      SPECTR_TRY(const double str, acceptance("k-seq", p, q, k));
      SPECTR_TRY(const double plus, acceptance("str+", p, q, k));
      SPECTR_TRY(const double plus_plus, acceptance("str++", p, q, k));
      SPECTR_TRY(const double rejected, min_rejection_of_prefixes(p, q, k, 1.0 - optimum));
      data.add(
          {static_cast<double>(pair), static_cast<double>(k), str, plus, plus_plus, 1.0 - rejected, optimum});
    }
    context.progress(pair + 1, pairs);
  }

  DataTable means({"k", "plan", "mean", "worst_ratio"});
  for (std::size_t k = 2; k <= last_k; ++k) {
    for (const Curve& curve : curves) {
      const Comparison c = compare(data, k, curve.column);
      means.add({static_cast<double>(k), curve.column, c.mean, c.worst_ratio});
    }
  }
  Panel mean, worst;
  mean.title = "mean";
  worst.title = "worst pair";
  mean.y.label = "mean acceptance";
  worst.y.label = "acceptance / optimum";
  mean.legend = "";
  worst.legend = "at graph 0.98, graph 0.93";
  for (Panel* panel : {&mean, &worst}) {
    panel->x = {
        .label = "number of drafts k", .from = 1.8, .to = static_cast<double>(last_k) + 0.2, .step = 1.0};
  }
  std::vector<Line> summary;
  for (const auto& [column, plan] : curves) {
    const auto rows = means.where({{"plan", column}});
    mean.series.push_back({plan.title, Style::joined, plan.colour, points(means, rows, "k", "mean")});
    worst.series.push_back({plan.title, Style::joined, plan.colour, points(means, rows, "k", "worst_ratio")});
    const std::size_t row = rows.back();
    summary.push_back(
        {fmt::format("k = {}, {}: mean, worst/optimum", last_k, plan.title),
         fmt::format("{:.5f}, {:.5f}", means.number(row, "mean"), means.number(row, "worst_ratio"))});
  }
  for (const Curve& curve : {curves[1], curves[2]}) {
    double worst_ratio = 1.0;
    for (const std::size_t row : means.where({{"plan", curve.column}}))
      worst_ratio = std::min(worst_ratio, means.number(row, "worst_ratio"));
    summary.push_back({fmt::format("all k, {}: worst/optimum", curve.plan.title),
                       fmt::format("{:.3f}", worst_ratio), "≥ ≈ 0.85"});
  }
  SPECTR_TRY_VOID(bernoulli_example(summary));
  return Report{std::move(data),
                {fmt::format("{} random pairs of laws on {} tokens", pairs, vocabulary),
                 {std::move(mean), std::move(worst)}},
                std::move(summary)};
}

}  // namespace

Result<Report> spectrpp_5(const Context& context) {
  return random_pairs(5, context);
}

Result<Report> spectrpp_10(const Context& context) {
  return random_pairs(10, context);
}

}  // namespace spectr::lab
