// Yin et al., figure 3 right: rejections that a batch saves at a single token.

#include <fmt/format.h>

#include "lab/distributions.h"
#include "lab/figures/figures.h"
#include "lab/simulate.h"
#include "lab/theory/rejections.h"
#include "spectr/base/counter_random.h"

namespace spectr::lab {
namespace {

constexpr std::size_t max_sequences = 12;

struct Case {
  std::string name;
  Distribution p, q;
  double (*improvement)(std::size_t sequences);
  bool is_uniform() const { return p.size() > 2; }
  /// Returns the paper's formula for M sequences; limit() is the one for M → ∞.
  const char* formula() const {
    if (is_uniform()) return "(1 − 1/r) − (1 − 1/r)^M";
    return p[1] > q[1] ? "|u − v| (1 − u^(M − 1))" : "|u − v| (1 − (1 − u)^(M − 1))";
  }
  const char* limit() const { return is_uniform() ? "1 − 1/r" : "|u − v|"; }
};

/// Vocabularies of which q keeps two tokens: the closed form tends to 0 as they grow.
constexpr std::size_t vocabularies[] = {12, 120, 1200, 12000};
constexpr std::size_t kept = 2;

std::vector<Case> cases() {
  return {{"Unif(12) → Unif(6)", uniform(12, 12), uniform(6, 12),
           [](std::size_t M) { return uniform_batch_improvement(2.0, M); }},
          {"Unif(12) → Unif(2)", uniform(12, 12), uniform(2, 12),
           [](std::size_t M) { return uniform_batch_improvement(6.0, M); }},
          {"Ber(0.1) → Ber(0.5)", bernoulli(0.1), bernoulli(0.5),
           [](std::size_t M) { return bernoulli_batch_improvement(0.1, 0.5, M); }},
          {"Ber(0.25) → Ber(0.5)", bernoulli(0.25), bernoulli(0.5),
           [](std::size_t M) { return bernoulli_batch_improvement(0.25, 0.5, M); }},
          {"Ber(0.75) → Ber(0.5)", bernoulli(0.75), bernoulli(0.5),
           [](std::size_t M) { return bernoulli_batch_improvement(0.75, 0.5, M); }},
          {"Ber(0.9) → Ber(0.5)", bernoulli(0.9), bernoulli(0.5),
           [](std::size_t M) { return bernoulli_batch_improvement(0.9, 0.5, M); }}};
}

/// Returns TV(p, q), the rejection of one draft, minus the rejections of M drafts in simulated draws.
Result<Average> simulate(const Case& c, std::size_t sequences, std::size_t runs, std::uint64_t seed) {
  SPECTR_TRY(const PlanRule* rule, find_plan("recursive"));
  SPECTR_TRY(const auto plan, rule->build(DraftDistributions(c.p, sequences), c.q, {}));
  const double single = total_variation(c.p, c.q);
  std::vector<Token> drafts(sequences);
  Average saved;
  for (std::size_t run = 0; run < runs; ++run) {
    CounterRandom random(seed, run);
    random.enter({.purpose = Purpose::draft});
    plan->draw(drafts, random);
    random.enter({.purpose = Purpose::select});
    saved.add(single - (plan->select(drafts, random).accepted ? 0.0 : 1.0));
  }
  return saved;
}

}  // namespace

Result<Report> batch_improvement(const Context& context) {
  const std::size_t runs = context.runs_or(100'000, 1'000);
  DataTable data({"case", "sequences", "closed_form", "runs", "mean", "low", "high"});
  Panel panel{"fewer rejections of one token; marks with bars of 95 %: simulated",
              {.label = "sequences M", .from = 0.5, .to = max_sequences + 0.5},
              {.label = "rejections saved", .from = -0.05, .to = 1.0},
              {},
              "top left"};
  std::vector<Line> summary;
  std::size_t colour = 0;
  const std::vector<Case> all = cases();
  for (const Case& c : all) {
    for (std::size_t M = 1; M <= max_sequences; ++M) {
      SPECTR_TRY(const Average saved, simulate(c, M, runs, context.seed));
      data.add({c.name, static_cast<double>(M), c.improvement(M), static_cast<double>(runs), saved.mean(),
                saved.mean() - saved.band(), saved.mean() + saved.band()});
      context.progress(colour * max_sequences + M, all.size() * max_sequences);
    }
    const auto rows = data.where({{"case", c.name}});
    panel.series.push_back({c.name, Style::line, colour, points(data, rows, "sequences", "closed_form")});
    panel.series.push_back({"", Style::bars, colour, points(data, rows, "sequences", "mean", "low", "high")});
    ++colour;
    // The saving tends to the rejection of one draft as M grows: TV(p, q) for equal supports.
    summary.push_back(
        {c.name + ", limit M → ∞ is TV(p, q)", fmt::format("{:.6f}", total_variation(c.p, c.q)), c.limit()});
    summary.push_back(
        {c.name + ", M = 4, closed form", fmt::format("{:.6f}", c.improvement(4)), c.formula()});
    summary.push_back(
        {"… simulated", fmt::format("{:.4f} ± {:.4f}", data.number(rows[3], "mean"),
                                    data.number(rows[3], "high") - data.number(rows[3], "mean"))});
  }
  for (const std::size_t V : vocabularies) {
    const double saved = uniform_batch_improvement(static_cast<double>(V) / kept, 4);
    const std::string name = fmt::format("Unif({}) → Unif({})", V, kept);
    if (V != vocabularies[0]) data.add({name, 4.0, saved, 0.0, "", "", ""});
    summary.push_back({name + ", M = 4, closed form", fmt::format("{:.6f}", saved), "→ 0 as V grows"});
  }
  return Report{std::move(data), {"What a batch saves", {std::move(panel)}}, std::move(summary)};
}

}  // namespace spectr::lab
