// Yin et al., figure 4: the trade-off between rejection and bias at one token.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/distributions.h"
#include "lab/figures/biased_rules.h"
#include "lab/figures/figures.h"
#include "spectr/base/enumerator.h"

namespace spectr::lab {
namespace {

constexpr std::size_t vocabulary = 8, steps = 12;

/// The rejection and bias of the plan itself, by enumeration of all outcomes.
struct Enumerated {
  double rejection = 0.0;
  double bias = 0.0;
};

Result<Enumerated> enumerate(const char* plan_name, const Distribution& p, const Distribution& q,
                             double epsilon) {
  SPECTR_TRY(const PlanRule* rule, find_plan(plan_name));
  SPECTR_TRY(const auto plan, rule->build(DraftDistributions(p, 1), q, {.epsilon = epsilon}));
  Enumerated out;
  std::vector<double> distribution(vocabulary, 0.0);
  Token draft[1];
  Enumerator choices;
  do {
    plan->draw(draft, choices);
    const Selection y = plan->select(draft, choices);
    distribution[static_cast<std::size_t>(y.token)] += choices.probability();
    if (!y.accepted) out.rejection += choices.probability();
  } while (choices.next());
  for (std::size_t y = 0; y < vocabulary; ++y)
    out.bias += 0.5 * std::abs(distribution[y] - q.probabilities()[y]);
  return out;
}

/// Largest bias and rejection in the figure, in units of TV; the space above the points is for the legend.
constexpr double right = 1.3, top = 1.5;

/// Returns the half plane above the line from (0, TV) to (TV, 0).
Series feasible(double tv) {
  const double max = top * tv;
  return {"feasible", Style::area, 5, {{0.0, tv, tv, max}, {tv, 0.0, 0.0, max}, {right * tv, 0.0, 0.0, max}}};
}

}  // namespace

Result<Report> pareto(const Context& context) {
  const MarkovPair pair = MarkovPair::random(vocabulary, 1, context.seed);
  const auto p = pair.p(0, 0), q = pair.q(0, 0);
  const Distribution draft = Distribution::from_weights(p);
  const Distribution target = Distribution::from_weights(q);
  const double tv = total_variation(draft, target);

  DataTable data(
      {"rule", "epsilon", "rejection", "bias", "least_bias", "enumerated_rejection", "enumerated_bias"});
  double off_line = 0.0, off_form = 0.0;
  for (const BiasedRule& rule : biased_rules) {
    for (const double epsilon : epsilons(pair, steps)) {
      const BiasedStep step = biased_step(p, q, epsilon, rule.correction);
      SPECTR_TRY(const Enumerated measured, enumerate(rule.plan, draft, target, epsilon));
      data.add({rule.name, epsilon, step.rejection, step.bias, min_bias(p, q, epsilon), measured.rejection,
                measured.bias});
      off_form = std::max(
          {off_form, std::abs(step.rejection - measured.rejection), std::abs(step.bias - measured.bias)});
      if (rule.correction == Correction::opt) {
        off_line = std::max(off_line, std::abs(measured.rejection + measured.bias - tv));
      }
    }
  }

  Panel panel{fmt::format("one token of {}, TV(p, q) = {:.4f}", vocabulary, tv),
              {.label = "bias: TV of the output's law from q", .from = 0.0, .to = right * tv},
              {.label = "probability of rejection", .from = 0.0, .to = top * tv},
              {feasible(tv),
               {"front: rejection + bias = TV", Style::line, 6, {{0.0, tv, tv, tv}, {tv, 0.0, 0.0, 0.0}}}},
              "top right"};
  for (const BiasedRule& rule : biased_rules) {
    panel.series.push_back(
        {fmt::format("{}, ε from 0 upwards (enumerated)", rule.title), Style::marks, rule.colour,
         points(data, data.where({{"rule", rule.name}}), "enumerated_bias", "enumerated_rejection")});
  }
  std::vector<Line> summary = {
      {"TV(p, q)", fmt::format("{:.6f}", tv)},
      {"OPT, largest |rejection + bias − TV| (enumerated)", fmt::format("{:.1e}", off_line), "0"},
      {"OPT and UNO, largest |formula − enumerated|", fmt::format("{:.1e}", off_form)}};
  return Report{std::move(data), {"Rejection against bias", {std::move(panel)}}, std::move(summary)};
}

}  // namespace spectr::lab
