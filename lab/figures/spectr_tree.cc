// SpecTr, section 7 and appendix D: do prefix trees do better than independent sequences?

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "lab/figures/figures.h"
#include "lab/simulate.h"

namespace spectr::lab {
namespace {

constexpr std::size_t states = 16, horizon = 40, length = 4, pairs = 4;

/// K sequences or the factors of a prefix tree, and the drafts of a token that either draws in a whole block.
struct Shape {
  const char* name;
  std::size_t sequences;          // 0: a tree
  std::vector<std::size_t> tree;  // factors

  const char* method() const { return tree.empty() ? "spectr" : "tree"; }
  MethodOptions options(const char* plan) const {
    return {.plan = plan, .drafts = std::max<std::size_t>(sequences, 1), .length = length, .tree = tree};
  }
  std::size_t draws() const {
    if (tree.empty()) return sequences * length;
    std::size_t all = 0, level = 1;
    for (const std::size_t factor : tree) all += level *= factor;
    return all;
  }
};

/// Trees of eight leaves beside eight sequences, and beside as many sequences as have their number of draws
/// or, where none has, one less and one more.
std::vector<Shape> shapes() {
  return {{"8 sequences", 8, {}},      {"7 sequences", 7, {}},       {"6 sequences", 6, {}},
          {"5 sequences", 5, {}},      {"8·1·1·1", 0, {8, 1, 1, 1}}, {"4·2·1·1", 0, {4, 2, 1, 1}},
          {"2·2·2·1", 0, {2, 2, 2, 1}}};
}

}  // namespace

Result<Report> spectr_tree(const Context& context) {
  const std::size_t runs = context.runs_or(250, 3);
  const std::vector<Shape> all = shapes();
  const std::vector<const char*> plans = {"k-seq", "optimal"};
  DataTable data({"plan", "shape", "draws", "texts", "tokens_per_call", "low", "high"});
  std::size_t done = 0;
  for (const char* plan : plans) {
    for (const Shape& shape : all) {
      Average average;
      for (std::size_t i = 0; i < pairs; ++i) {
        const MarkovPair pair =
            MarkovPair::alike(states, horizon, 1.5, context.seed + static_cast<std::uint32_t>(i));
        SPECTR_TRY_VOID(simulate_efficiency(pair, shape.method(), shape.options(plan), runs, context.seed,
                                            [&](double tokens_per_call) { average.add(tokens_per_call); }));
        context.progress(++done, plans.size() * all.size() * pairs);
      }
      data.add({plan, shape.name, static_cast<double>(shape.draws()), static_cast<double>(average.count()),
                average.mean(), average.mean() - average.band(), average.mean() + average.band()});
    }
  }
  Panel panel{fmt::format("{} texts of {} tokens, {} pairs of {} states; bars of 95 %", pairs * runs, horizon,
                          pairs, states),
              {.label = "drafts drawn for a block", .from = 18.0, .to = 34.0},
              {.label = "tokens per call", .from = 2.4, .to = 4.0},
              {},
              "bottom right"};
  std::vector<Line> summary;
  std::size_t colour = 0;
  for (const char* plan : plans) {
    std::vector<std::size_t> sequences, trees;
    for (const std::size_t row : data.where({{"plan", plan}})) {
      const bool tree = row % all.size() >= 4;
      (tree ? trees : sequences).push_back(row);
      summary.push_back(
          {fmt::format("{}, {} ({} draws)", plan, all[row % all.size()].name, data.number(row, "draws")),
           fmt::format("{:.3f} ± {:.3f}", data.number(row, "tokens_per_call"),
                       data.number(row, "high") - data.number(row, "tokens_per_call"))});
    }
    panel.series.push_back({fmt::format("{}, independent sequences", plan), Style::bars, colour++,
                            points(data, sequences, "draws", "tokens_per_call", "low", "high")});
    panel.series.push_back({fmt::format("{}, prefix trees of 8 leaves", plan), Style::bars, colour++,
                            points(data, trees, "draws", "tokens_per_call", "low", "high")});
    const double eight = data.number(sequences.front(), "tokens_per_call");
    double best = 0.0;
    for (const std::size_t row : trees) best = std::max(best, data.number(row, "tokens_per_call"));
    summary.push_back({fmt::format("{}: best tree / 8 sequences", plan), fmt::format("{:.3f}", best / eight),
                       "not above 1"});
  }
  return Report{
      std::move(data), {"Prefix trees beside independent sequences", {std::move(panel)}}, std::move(summary)};
}

}  // namespace spectr::lab
