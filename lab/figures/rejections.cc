// Yin et al., figures 2a, 2b and 5: the average number of rejections converges to its expected value.

#include "lab/theory/rejections.h"

#include <fmt/format.h>

#include <cmath>

#include "lab/figures/figures.h"
#include "lab/simulate.h"

namespace spectr::lab {
namespace {

constexpr std::size_t states = 7;

struct Batch {
  std::size_t sequences;
  std::string paper = "-";
};

std::string name_of(std::size_t sequences) {
  return sequences == 1 ? "M = 1 (plain)" : fmt::format("M = {}", sequences);
}

/// Adds about ten rows per decade of the number of runs.
Result<void> converge(const MarkovPair& pair, std::size_t sequences, std::size_t runs, std::uint32_t seed,
                      const std::function<void(std::size_t)>& progress, DataTable& data) {
  const double expected = total(expected_batch_rejections(pair, sequences));
  Average average;
  double next = 10.0;
  return simulate_rejections(pair, sequences, runs, seed, [&](std::size_t run, double rejections) {
    average.add(rejections);
    const auto n = static_cast<double>(run + 1);
    if (n >= next || run + 1 == runs) {
      while (next <= n) next *= std::pow(10.0, 0.1);
      data.add({static_cast<double>(sequences), n, average.mean(), average.mean() - average.band(),
                average.mean() + average.band(), expected});
    }
    progress(run + 1);
  });
}

/// Returns a panel of expected rejections of batches up to thousands of sequences; adds rows without runs.
Panel scaling(const MarkovPair& pair, const std::vector<std::size_t>& sequences, DataTable& data) {
  for (const std::size_t M : sequences) {
    data.add({static_cast<double>(M), 0.0, "", "", "", total(expected_batch_rejections(pair, M))});
  }
  return {fmt::format("expected, up to {} sequences", sequences.back()),
          {.label = "sequences M", .logarithmic = true},
          {.label = "rejections per text"},
          {{"", Style::joined, 0, points(data, data.where({{"runs", 0.0}}), "sequences", "expected")}},
          "top right"};
}

/// Simulates several batches on one random pair, and adds the expected rejections of batches of `more`
/// sequences if there are any.
Result<Report> convergence(std::string title, std::size_t horizon, std::size_t runs, const Context& context,
                           const std::vector<Batch>& batches, const std::vector<std::size_t>& more = {}) {
  const MarkovPair pair = MarkovPair::random(states, horizon, context.seed);
  DataTable data({"sequences", "runs", "mean", "low", "high", "expected"});
  Panel panel{fmt::format("{} states, horizon T = {}; bands of 95 %", states, horizon),
              {.label = "texts decoded", .to = 1.2 * static_cast<double>(runs), .logarithmic = true},
              {.label = "rejections per text"},
              {},
              "top right"};
  std::vector<Line> summary;
  std::size_t done = 0, colour = 0;
  for (const Batch& batch : batches) {
    SPECTR_TRY_VOID(converge(
        pair, batch.sequences, runs, context.seed,
        [&](std::size_t run) { context.progress(done + run, runs * batches.size()); }, data));
    done += runs;
    const auto rows = data.where({{"sequences", static_cast<double>(batch.sequences)}});
    const std::size_t last = rows.back();
    const double expected = data.number(last, "expected");
    panel.series.push_back({"simulated, " + name_of(batch.sequences), Style::band, colour,
                            points(data, rows, "runs", "mean", "low", "high")});
    panel.series.push_back(
        {colour == 0 ? "expected" : "", Style::dashes, colour, points(data, rows, "runs", "expected")});
    colour++;
    panel.y.from = 0.75 * expected;  // room for wide bands and, above the first batch, for the legend
    if (!panel.y.to) panel.y.to = 1.3 * expected;
    summary.push_back(
        {"expected, " + name_of(batch.sequences), fmt::format("{:.4f}", expected), batch.paper});
    summary.push_back({fmt::format("… simulated, {} texts", runs),
                       fmt::format("{:.4f} ± {:.4f}", data.number(last, "mean"),
                                   data.number(last, "high") - data.number(last, "mean"))});
  }
  const std::vector<double> single = expected_rejections(pair);
  const auto T = static_cast<double>(horizon);
  summary.push_back({"T / expected rejections = 1 / mean TV (remark 2), M = 1",
                     fmt::format("{:.2f}", T / total(single)), horizon == 50 ? paper_acceleration : "-"});
  summary.push_back({"tokens per call, M = 1", fmt::format("{:.4f}", T / expected_calls(single))});
  Figure figure{std::move(title), {std::move(panel)}};
  if (!more.empty()) {
    figure.panels.push_back(scaling(pair, more, data));
    for (const std::size_t row : data.where({{"runs", 0.0}})) {
      summary.push_back({fmt::format("expected, M = {}", data.number(row, "sequences")),
                         fmt::format("{:.4f}", data.number(row, "expected"))});
    }
  }
  return Report{std::move(data), std::move(figure), std::move(summary)};
}

}  // namespace

Result<Report> rejections(const Context& context) {
  return convergence("Rejections of speculative decoding", 50, context.runs_or(40'000, 400), context,
                     {{1, paper_rejections}});
}

Result<Report> rejections_batch(const Context& context) {
  return convergence("Rejections of batch speculative decoding", 50, context.runs_or(20'000, 100), context,
                     {{1, paper_rejections}, {4}, {5}});
}

Result<Report> rejections_100(const Context& context) {
  return convergence("Rejections at horizon 100", 100, context.runs_or(20'000, 50), context, {{1}, {2}},
                     {1, 2, 5, 10, 20, 50, 100, 150, 200, 400, 1000, 2000});
}

Result<Report> rejections_scaling(const Context& context) {
  constexpr std::size_t horizon = 50, max_sequences = 20;
  const MarkovPair pair = MarkovPair::random(states, horizon, context.seed);
  const double limit = total(expected_batch_rejections_in_the_limit(pair));
  const std::vector<std::size_t> simulated = {1, 2, 4, 8, 16};
  const std::size_t runs = context.runs_or(5'000, 40);
  DataTable data({"sequences", "expected", "limit", "runs", "mean", "low", "high"});
  std::size_t done = 0;
  for (std::size_t M = 1; M <= max_sequences; ++M) {
    Average average;
    if (std::ranges::find(simulated, M) != simulated.end()) {
      SPECTR_TRY_VOID(simulate_rejections(pair, M, runs, context.seed, [&](std::size_t, double r) {
        average.add(r);
        context.progress(++done, runs * simulated.size());
      }));
    }
    const double expected = total(expected_batch_rejections(pair, M));
    const bool none = average.count() == 0;
    data.add({static_cast<double>(M), expected, limit, static_cast<double>(average.count()),
              none ? Cell("") : Cell(average.mean()), none ? Cell("") : Cell(average.mean() - average.band()),
              none ? Cell("") : Cell(average.mean() + average.band())});
  }
  const auto all = data.where({}), measured = data.where({{"runs", static_cast<double>(runs)}});
  Panel panel{fmt::format("{} states, horizon T = {}; bars of 95 %", states, horizon),
              {.label = "sequences M", .from = 0.0, .to = max_sequences + 1.0},
              {.label = "rejections per text"},
              {{"expected", Style::joined, 0, points(data, all, "sequences", "expected")},
               {"simulated", Style::bars, 1, points(data, measured, "sequences", "mean", "low", "high")},
               {"limit M → ∞", Style::dashes, 6, points(data, all, "sequences", "limit")}},
              "top right"};
  std::vector<Line> summary;
  for (const std::size_t M : {1, 2, 4, 5, 10, 20}) {
    summary.push_back({fmt::format("expected, M = {}", M),
                       fmt::format("{:.4f}", data.number(M - 1, "expected")),
                       M == 1 ? paper_rejections : "-"});
  }
  summary.push_back({"limit M → ∞", fmt::format("{:.4f}", limit)});
  return Report{std::move(data),
                {"More sequences help only at the first token", {std::move(panel)}},
                std::move(summary)};
}

}  // namespace spectr::lab
