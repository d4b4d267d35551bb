// SpecTr++, theorem 3 and section 4: the number of rounds of iOPT, the gain of each round, and the cost of
// solvers of the transport problem in comparison.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "lab/distributions.h"
#include "lab/figures/figures.h"
#include "lab/theory/sinkhorn.h"
#include "spectr/base/stopwatch.h"
#include "spectr/transport/acceptance_bounds.h"

namespace spectr::lab {
namespace {

constexpr std::size_t drafts[] = {2, 4, 8};
constexpr int single_rounds[] = {1, 2, 3};

std::vector<std::size_t> vocabularies(bool quick) {
  if (quick) return {5, 10};
  return {5, 10, 20, 50, 100, 200, 500, 1000};
}

struct Built {
  double acceptance, rounds;
};

Result<Built> build(std::string_view plan, const Distribution& p, const Distribution& q, std::size_t k,
                    int rounds = 1) {
  SPECTR_TRY(const PlanRule* rule, find_plan(plan));
  SPECTR_TRY(const auto built, rule->build(DraftDistributions(p, k), q, {.rounds = rounds}));
  const PlanParameters parameters = built->parameters();
  const auto at = parameters.find("iterations");
  return Built{built->acceptance(), at == parameters.end() ? 0.0 : std::get<double>(at->second)};
}

/// Returns random pairs of one size, by the paper's generator.
std::vector<std::pair<Distribution, Distribution>> random_pairs(std::size_t vocabulary, std::size_t count,
                                                                std::mt19937& generator) {
  std::vector<std::pair<Distribution, Distribution>> pairs;
  for (std::size_t i = 0; i < count; ++i) {
    Distribution p = random_distribution(vocabulary, generator);
    pairs.emplace_back(std::move(p), random_distribution(vocabulary, generator));
  }
  return pairs;
}

/// Adds one row to the table: the mean over pairs.
Result<void> add_row(DataTable& data, std::size_t vocabulary, std::size_t k, std::size_t count,
                     std::mt19937& generator) {
  double k_seq = 0.0, end = 0.0, optimum = 0.0, mean = 0.0, most = 0.0;
  double after[std::size(single_rounds)] = {};
  const double share = 1.0 / static_cast<double>(count);
  for (const auto& [p, q] : random_pairs(vocabulary, count, generator)) {
    SPECTR_TRY(const Built none, build("k-seq", p, q, k));
    SPECTR_TRY(const Built all, build("str++", p, q, k));
    k_seq += share * none.acceptance;
    end += share * all.acceptance;
    optimum += share * optimal_acceptance(p, q, k);
    mean += share * all.rounds;
    most = std::max(most, all.rounds);
    for (std::size_t i = 0; i < std::size(single_rounds); ++i) {
      SPECTR_TRY(const Built some, build("str+", p, q, k, single_rounds[i]));
      after[i] += share * some.acceptance;
    }
  }
  const auto V = static_cast<double>(vocabulary), K = static_cast<double>(k);
  data.add({V, K, static_cast<double>(count), mean, most, K * V, k_seq, after[0], after[1], after[2], end,
            optimum});
  return {};
}

/// Returns the microseconds of one call, the minimum of several.
template <class Call>
double microseconds(std::size_t calls, Call call) {
  double least = 1e300;
  for (std::size_t i = 0; i < calls; ++i) {
    Stopwatch watch;
    call();
    least = std::min(least, 1e6 * watch.lap());
  }
  return least;
}

/// Times the solvers on one pair. Times depend on the machine, so only the summary has them.
Result<void> time_solvers(std::size_t vocabulary, std::size_t k, std::size_t calls, std::uint32_t seed,
                          std::vector<Line>& summary) {
  std::mt19937 generator(seed);
  const auto pairs = random_pairs(vocabulary, 1, generator);
  const auto& [p, q] = pairs.front();
  std::string times;
  for (const char* plan : {"k-seq", "str+", "str++", "optimal"}) {
    SPECTR_TRY_VOID(build(plan, p, q, k));
    times += fmt::format("{}{} {:.0f}", times.empty() ? "" : ", ", plan,
                         microseconds(calls, [&] { (void)build(plan, p, q, k); }));
  }
  if (std::pow(static_cast<double>(vocabulary), static_cast<double>(k)) <= 1000.0) {
    SPECTR_TRY_VOID(build("otm-lp", p, q, k));
    times += fmt::format(", otm-lp {:.0f}", microseconds(calls, [&] { (void)build("otm-lp", p, q, k); }));
    times += fmt::format(", Sinkhorn {:.0f}", microseconds(1, [&] { (void)sinkhorn(p, q, k); }));
    const Sinkhorn found = sinkhorn(p, q, k);
    summary.push_back({fmt::format("V = {}, k = {}: acceptance by Sinkhorn; optimum", vocabulary, k),
                       fmt::format("{:.4f} in {} iterations; {:.4f}", found.acceptance, found.iterations,
                                   optimal_acceptance(p, q, k))});
  }
  summary.push_back({fmt::format("V = {}, k = {}: µs here", vocabulary, k), times});
  return {};
}

}  // namespace

Result<Report> spectrpp_cost(const Context& context) {
  const std::size_t count = context.runs_or(20, 2);
  const std::vector<std::size_t> sizes = vocabularies(context.quick);
  DataTable data({"vocabulary", "k", "pairs", "rounds_mean", "rounds_max", "k_times_v", "k_seq", "round_1",
                  "round_2", "round_3", "last_round", "optimum"});
  std::mt19937 generator(context.seed);
  std::size_t done = 0;
  for (const std::size_t vocabulary : sizes) {
    for (const std::size_t k : drafts) {
      SPECTR_TRY_VOID(add_row(data, vocabulary, k, count, generator));
      context.progress(++done, sizes.size() * std::size(drafts));
    }
  }
  const Axis tokens{
      .label = "tokens V", .from = 4.0, .to = 1.3 * static_cast<double>(sizes.back()), .logarithmic = true};
  const Axis counts{.label = "rounds", .from = 0.0}, acceptances{.label = "acceptance", .from = 0.7};
  Panel rounds{"rounds until nothing changes, the most of all pairs", tokens, counts, {}, "top left"};
  Panel worth{"mean acceptance, k = 4", tokens, acceptances, {}, "bottom left"};
  std::size_t colour = 0;
  double max_used = 0.0;
  for (const std::size_t k : drafts) {
    const auto rows = data.where({{"k", static_cast<double>(k)}});
    rounds.series.push_back(
        {fmt::format("k = {}", k), Style::joined, colour++, points(data, rows, "vocabulary", "rounds_max")});
    for (const std::size_t row : rows)
      max_used = std::max(max_used, data.number(row, "rounds_max") / data.number(row, "k_times_v"));
  }
  const auto four = data.where({{"k", 4.0}});
  constexpr std::pair<const char*, const char*> curves[] = {
      {"k_seq", "k-Seq"},          {"round_1", "STr⁺: one round"}, {"round_2", "two rounds"},
      {"round_3", "three rounds"}, {"last_round", "STr⁺⁺"},        {"optimum", "optimum"}};
  colour = 0;
  for (const auto& [column, title] : curves)
    worth.series.push_back({title, Style::joined, colour++, points(data, four, "vocabulary", column)});

  std::vector<Line> summary = {{"most rounds / (k V)", fmt::format("{:.3f}", max_used), "≤ 1 (theorem 3)"}};
  for (const std::size_t row : four) {
    summary.push_back(
        {fmt::format("V = {}, k = 4: rounds, mean and most", data.number(row, "vocabulary")),
         fmt::format("{:.2f}, {}", data.number(row, "rounds_mean"), data.number(row, "rounds_max"))});
  }
  const std::size_t calls = context.quick ? 1 : 20;
  for (const auto& [vocabulary, k] :
       {std::pair{5uz, 2uz}, {10uz, 2uz}, {10uz, 3uz}, {100uz, 4uz}, {1000uz, 4uz}, {1000uz, 8uz}}) {
    if (vocabulary > sizes.back()) continue;
    SPECTR_TRY_VOID(time_solvers(vocabulary, k, calls, context.seed, summary));
  }
  return Report{
      std::move(data),
      {fmt::format("Rounds of iOPT on {} random pairs", count), {std::move(rounds), std::move(worth)}},
      std::move(summary)};
}

}  // namespace spectr::lab
