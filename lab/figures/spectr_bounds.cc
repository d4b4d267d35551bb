// SpecTr, Lemmas 1 and 3 and the chain (11): the limit of the optimum as drafts are added, and the tightness
// of its bounds.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/distributions.h"
#include "lab/figures/figures.h"
#include "spectr/transport/acceptance_bounds.h"

namespace spectr::lab {
namespace {

constexpr std::size_t max_drafts = 64, max_tuple_drafts = 5;

struct Case {
  const char* name;
  Distribution p, q;
};

std::vector<Case> cases() {
  return {{"p on all 4 tokens", Distribution::from_weights({0.4, 0.3, 0.2, 0.1}),
           Distribution::from_weights({0.1, 0.2, 0.3, 0.4})},
          {"p misses a token of q = 0.2", Distribution::from_weights({0.6, 0.3, 0.1, 0.0}),
           Distribution::from_weights({0.2, 0.2, 0.4, 0.2})},
          {"a token of p = 0.01, q = 0.5", Distribution::from_weights({0.6, 0.29, 0.1, 0.01}),
           Distribution::from_weights({0.2, 0.2, 0.1, 0.5})}};
}

/// Returns kβ(k) = Σ min(q, kp).
double overlap(const Distribution& p, const Distribution& q, std::size_t k) {
  double sum = 0.0;
  for (std::size_t x = 0; x < q.vocabulary(); ++x)
    sum += std::min(q[static_cast<Token>(x)], static_cast<double>(k) * p[static_cast<Token>(x)]);
  return sum;
}

/// Returns random weights, some of them 0 and some equal.
Distribution any_distribution(std::size_t vocabulary, std::mt19937& generator) {
  std::vector<double> weights(vocabulary);
  for (double& w : weights) w = uniform53(generator) < 0.25 ? 0.0 : std::ceil(6.0 * uniform53(generator));
  weights[generator() % vocabulary] += 1.0;
  return Distribution::from_weights(weights);
}

/// Returns the largest difference between expression 9 and the transport problem's LP on small alphabets.
Result<double> search(std::size_t pairs, std::uint32_t seed) {
  SPECTR_TRY(const PlanRule* program, find_plan("otm-lp"));
  std::mt19937 generator(seed);
  double largest = 0.0;
  for (std::size_t i = 0; i < pairs; ++i) {
    const std::size_t vocabulary = 2 + i % 4, k = 1 + i / 4 % 3;
    const Distribution p = any_distribution(vocabulary, generator),
                       q = any_distribution(vocabulary, generator);
    SPECTR_TRY(const auto built, program->build(DraftDistributions(p, k), q, {}));
    largest = std::max(largest, std::abs(tuple_bound({p, k}, q) - built->acceptance()));
  }
  return largest;
}

}  // namespace

Result<Report> spectr_bounds(const Context& context) {
  DataTable data({"case", "k", "k_seq", "optimum", "tuple_bound", "drafted", "overlap", "limit"});
  Panel panel{"α of k drafts, and Σ q over p > 0",
              {.label = "number of drafts k", .from = 0.9, .to = max_drafts * 1.2, .logarithmic = true},
              {.label = "optimal acceptance", .from = 0.0, .to = 1.05},
              {}};
  std::vector<Line> summary;
  double tuple_gap = 0.0, order = 0.0;
  std::size_t colour = 0;
  for (const Case& c : cases()) {
    const double limit = acceptance_in_the_limit(c.p, c.q);
    for (std::size_t k = 1; k <= max_drafts; k = k < 8 ? k + 1 : 2 * k) {
      SPECTR_TRY(const double k_seq, acceptance("k-seq", c.p, c.q, k));
      const double optimum = optimal_acceptance(c.p, c.q, k), drafted = drafted_bound({c.p, k}, c.q),
                   all = overlap(c.p, c.q, k);
      Cell tuples = "";
      if (k <= max_tuple_drafts) {
        const double bound = tuple_bound({c.p, k}, c.q);
        tuple_gap = std::max(tuple_gap, std::abs(bound - optimum));
        tuples = bound;
      }
      order = std::max({order, k_seq - optimum, optimum - drafted, drafted - all, optimum - limit});
      data.add({c.name, static_cast<double>(k), k_seq, optimum, tuples, drafted, all, limit});
    }
    const auto rows = data.where({{"case", c.name}});
    panel.series.push_back({c.name, Style::joined, colour, points(data, rows, "k", "optimum")});
    panel.series.push_back({"", Style::dashes, colour, points(data, rows, "k", "limit")});
    ++colour;
    summary.push_back({fmt::format("{}: α of k = 1, 8, 64 drafts", c.name),
                       fmt::format("{:.6f}, {:.6f}, {:.6f}", data.number(rows[0], "optimum"),
                                   data.number(rows[7], "optimum"), data.number(rows.back(), "optimum")),
                       fmt::format("→ {:.6g} (lemma 1)", limit)});
  }
  const std::size_t row = data.where({{"case", cases().front().name}, {"k", 4.0}}).front();
  summary.push_back({"first case, k = 4: α ≤ Σ min(q, 1 − (1 − p)ᵏ) ≤ Σ min(q, kp)",
                     fmt::format("{:.6f} ≤ {:.6f} ≤ {:.6f}", data.number(row, "optimum"),
                                 data.number(row, "drafted"), data.number(row, "overlap")),
                     "in this order (11)"});
  summary.push_back(
      {"largest violation of k-Seq ≤ α ≤ … ≤ Σ min(q, kp), α ≤ limit", fmt::format("{:.1e}", order), "0"});
  summary.push_back({"largest |(9) − α|", fmt::format("{:.1e}", tuple_gap), "≤ α (1/(1 − (1 − 1/k)ᵏ) − 1)"});
  const std::size_t pairs = context.runs_or(600, 24);
  SPECTR_TRY(const double searched, search(pairs, context.seed));
  summary.push_back({fmt::format("largest |(9) − linear program|, {} pairs of 2 to 5 tokens, k ≤ 3", pairs),
                     fmt::format("{:.1e}", searched)});
  return Report{std::move(data), {"What drafts can reach", {std::move(panel)}}, std::move(summary)};
}

}  // namespace spectr::lab
