// SpecTr, section 7 and appendix D: prefix trees against independent sequences.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "lab/figures/figures.h"
#include "lab/simulate.h"

namespace spectr::lab {
namespace {

constexpr std::size_t states = 16, horizon = 40, length = 4, pairs = 4;

/// The factors of a prefix tree or of independent sequences, for which only the first factor exceeds
/// 1.
struct Shape {
  std::string name;
  std::vector<std::size_t> factors;
  bool is_tree;

  const char* method() const { return is_tree ? "tree" : "spectr"; }
  MethodOptions options(const char* plan) const {
    return {.plan = plan,
            .drafts = factors.front(),
            .length = length,
            .tree = is_tree ? factors : std::vector<std::size_t>{}};
  }
  /// Returns the number of tokens that a block draws.
  std::size_t draws() const {
    std::size_t all = 0, level = 1;
    for (const std::size_t factor : factors) all += level *= factor;
    return all;
  }
};

/// Returns sequences, and trees that draw as many tokens as five to eight sequences.
std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (std::size_t K = 3; K <= 9; ++K) all.push_back({fmt::format("{} sequences", K), {K, 1, 1, 1}, false});
  for (const std::vector<std::size_t>& factors :
       {std::vector<std::size_t>{4, 1, 1, 2}, {4, 1, 2, 1}, {4, 2, 1, 1}, {2, 3, 2, 1}}) {
    all.push_back(
        {fmt::format("{}·{}·{}·{}", factors[0], factors[1], factors[2], factors[3]), factors, true});
  }
  return all;
}

/// Returns tokens per call of sequences that score x rows, interpolated between two numbers of sequences.
double at_rows(const std::vector<Point>& sequences, double x) {
  std::size_t i = 1;
  while (i + 1 < sequences.size() && sequences[i].x < x) ++i;
  const Point &a = sequences[i - 1], &b = sequences[i];
  return a.y + (b.y - a.y) * (x - a.x) / (b.x - a.x);
}

}  // namespace

Result<Report> spectr_tree(const Context& context) {
  const std::size_t runs = context.runs_or(250, 3);
  const std::vector<Shape> all = shapes();
  const std::vector<const char*> plans = {"k-seq", "optimal"};
  DataTable data(
      {"plan", "shape", "tree", "draws", "rows_per_call", "texts", "tokens_per_call", "low", "high"});
  std::size_t done = 0;
  for (const char* plan : plans) {
    for (const Shape& shape : all) {
      Average tokens, rows;
      for (std::size_t i = 0; i < pairs; ++i) {
        const MarkovPair pair =
            MarkovPair::alike(states, horizon, 1.5, context.seed + static_cast<std::uint32_t>(i));
        SPECTR_TRY_VOID(simulate_efficiency(pair, shape.method(), shape.options(plan), runs, context.seed,
                                            [&](const Efficiency& text) {
                                              tokens.add(text.tokens_per_call);
                                              rows.add(text.rows_per_call);
                                            }));
        context.progress(++done, plans.size() * all.size() * pairs);
      }
      data.add({plan, shape.name, shape.is_tree ? 1.0 : 0.0, static_cast<double>(shape.draws()), rows.mean(),
                static_cast<double>(tokens.count()), tokens.mean(), tokens.mean() - tokens.band(),
                tokens.mean() + tokens.band()});
    }
  }
  Panel by_draws{fmt::format("{} texts of {} tokens; bars of 95 %", pairs * runs, horizon),
                 {.label = "tokens drawn for a block", .from = 10.0, .to = 38.0},
                 {.label = "tokens per call", .from = 2.4, .to = 4.1},
                 {},
                 "bottom right"};
  Panel by_rows{fmt::format("{} pairs of {} states", pairs, states),
                {.label = "rows that a pass of the target scores"},
                {.label = "tokens per call", .from = 2.4, .to = 4.1},
                {},
                ""};
  std::vector<Line> summary;
  std::size_t colour = 0;
  for (const char* plan : plans) {
    const auto sequences = data.where({{"plan", plan}, {"tree", 0.0}}),
               trees = data.where({{"plan", plan}, {"tree", 1.0}});
    for (const auto& [title, rows] :
         {std::pair("independent sequences", sequences), {"prefix trees", trees}}) {
      const std::string name = fmt::format("{}, {}", plan, title);
      by_draws.series.push_back(
          {name, Style::bars, colour, points(data, rows, "draws", "tokens_per_call", "low", "high")});
      by_rows.series.push_back({name, Style::bars, colour++,
                                points(data, rows, "rows_per_call", "tokens_per_call", "low", "high")});
    }
    const std::vector<Point> measured = points(data, sequences, "rows_per_call", "tokens_per_call");
    double by_draw = 0.0, by_row = 0.0;
    for (const std::size_t row : trees) {
      const double tokens = data.number(row, "tokens_per_call");
      const std::size_t same =
          data.where({{"plan", plan}, {"tree", 0.0}, {"draws", data.number(row, "draws")}}).front();
      const double at_same_rows = at_rows(measured, data.number(row, "rows_per_call"));
      summary.push_back(
          {fmt::format("{}, tree {}; sequences of {} draws; of {:.1f} rows", plan, all[row % all.size()].name,
                       data.number(row, "draws"), data.number(row, "rows_per_call")),
           fmt::format("{:.3f} ± {:.3f}; {:.3f}; {:.3f}", tokens, data.number(row, "high") - tokens,
                       data.number(same, "tokens_per_call"), at_same_rows)});
      by_draw = std::max(by_draw, tokens / data.number(same, "tokens_per_call"));
      by_row = std::max(by_row, tokens / at_same_rows);
    }
    const bool of_the_paper = plan == plans.front();  // the paper ran no trees with other plans
    summary.push_back({fmt::format("{}: best tree / sequences of as many draws", plan),
                       fmt::format("{:.3f}", by_draw), of_the_paper ? "no better" : "-"});
    summary.push_back({fmt::format("{}: best tree / sequences of as many rows", plan),
                       fmt::format("{:.3f}", by_row), of_the_paper ? "no better" : "-"});
  }
  return Report{std::move(data),
                {"Prefix trees beside independent sequences", {std::move(by_draws), std::move(by_rows)}},
                std::move(summary)};
}

}  // namespace spectr::lab
