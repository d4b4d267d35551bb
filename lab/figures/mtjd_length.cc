// MTAD, theorem 3.2 and corollary 3.3 on random models, where longer joint blocks reduce the mean perplexity;
// lab/figures/mtad_counterexamples.cc has a model where they do not.

#include <fmt/format.h>

#include <cmath>

#include "lab/figures/figures.h"
#include "lab/simulate.h"
#include "lab/theory/joint_decoding.h"

namespace spectr::lab {
namespace {

constexpr std::size_t states = 16, horizon = 256, max_length = 8;
constexpr std::size_t varying_lengths[] = {1, 2, 4, 8};
constexpr std::size_t lengths_of_text[] = {8, 16, 32, 64, 128, 256};
/// Distribution of random block lengths: 1, 2, 4 and 8 are equally likely.
constexpr double random_lengths[max_length] = {0.25, 0.25, 0.0, 0.25, 0.0, 0.0, 0.0, 0.25};

/// Returns equation 3 with contexts along the target's own sequences of n tokens: the expected cost of a
/// block of γ tokens, per token.
double along_target(const std::vector<double>& costs, std::size_t block, std::size_t n) {
  const std::size_t contexts = n - block + 1;
  double sum = 0.0;
  for (std::size_t i = 0; i < contexts; ++i) sum += costs[i];
  return sum / static_cast<double>(contexts * block);
}

/// Returns equation 3 for random lengths: −E L(γ)/E γ.
double along_target(const std::vector<std::vector<double>>& costs, std::size_t n) {
  double cost = 0.0, tokens = 0.0;
  for (std::size_t block = 1; block <= max_length; ++block) {
    const double share = random_lengths[block - 1] * static_cast<double>(block);
    cost += share * along_target(costs[block - 1], block, n);
    tokens += share;
  }
  return cost / tokens;
}

}  // namespace

Result<Report> mtjd_length(const Context& context) {
  const std::size_t models = context.runs_or(500, 10);
  // By length of blocks and of sequences: log-perplexity, and how often it is below that of greedy decoding.
  std::vector costs(max_length + 1, std::vector<Average>(std::size(lengths_of_text)));
  auto better = costs, target_contexts = costs;
  Average varying, varying_better, random, random_contexts;  // for the longest sequences
  for (std::size_t m = 0; m < models; ++m) {
    const MarkovPair pair = MarkovPair::random(states, horizon, context.seed + static_cast<std::uint32_t>(m));
    const std::vector<double> greedy = joint_decoding_cost(pair, 0, 1);
    const auto after_target = joint_costs_along_target(pair, 0, max_length);
    for (std::size_t block = 1; block <= max_length; ++block) {
      const std::vector<double> joint = joint_decoding_cost(pair, 0, block);
      for (std::size_t i = 0; i < std::size(lengths_of_text); ++i) {
        const std::size_t n = lengths_of_text[i];
        costs[block][i].add(joint[n - 1] / static_cast<double>(n));
        better[block][i].add(joint[n - 1] <= greedy[n - 1] ? 1.0 : 0.0);
        target_contexts[block][i].add(along_target(after_target[block - 1], block, n));
      }
    }
    const double in_turn = joint_decoding_cost(pair, 0, varying_lengths).back();
    varying.add(in_turn / static_cast<double>(horizon));
    varying_better.add(in_turn <= greedy.back() ? 1.0 : 0.0);
    random.add(random_joint_decoding_cost(pair, 0, random_lengths) / static_cast<double>(horizon));
    random_contexts.add(along_target(after_target, horizon));
    context.progress(m + 1, models);
  }

  DataTable data(
      {"block", "text", "models", "perplexity", "low", "high", "not_worse_than_greedy", "equation_3"});
  for (std::size_t block = 1; block <= max_length; ++block) {
    for (std::size_t i = 0; i < std::size(lengths_of_text); ++i) {
      const Average& cost = costs[block][i];
      data.add({static_cast<double>(block), static_cast<double>(lengths_of_text[i]),
                static_cast<double>(models), std::exp(cost.mean()), std::exp(cost.mean() - cost.band()),
                std::exp(cost.mean() + cost.band()), better[block][i].mean(),
                std::exp(target_contexts[block][i].mean())});
    }
  }
  Panel by_length{fmt::format("texts of {} tokens", horizon),
                  {.label = "tokens γ of a joint block", .from = 0.5, .to = max_length + 0.5},
                  {.label = "perplexity under the target", .from = 7.6, .to = 9.0},
                  {},
                  "top right"};
  by_length.series.push_back(
      {"exact greedy MTJD", Style::joined, 0,
       points(data, data.where({{"text", static_cast<double>(horizon)}}), "block", "perplexity")});
  by_length.series.push_back(
      {"equation 3 along the target's texts", Style::joined, 1,
       points(data, data.where({{"text", static_cast<double>(horizon)}}), "block", "equation_3")});
  Panel by_text{"against greedy decoding (γ = 1)",
                {.label = "tokens of the text", .from = 7.0, .to = 300.0, .logarithmic = true},
                {.label = "models where MTJD is not worse", .from = 0.0, .to = 1.05},
                {}};
  std::size_t colour = 0;
  for (const double block : {2.0, 4.0, 8.0}) {
    by_text.series.push_back({fmt::format("γ = {}", block), Style::joined, colour++,
                              points(data, data.where({{"block", block}}), "text", "not_worse_than_greedy")});
  }
  std::vector<Line> summary;
  for (const double block : {1.0, 2.0, 4.0, 8.0}) {
    const std::size_t row = data.where({{"block", block}, {"text", static_cast<double>(horizon)}}).front();
    summary.push_back({fmt::format("γ = {}: perplexity; models where it is not above greedy's", block),
                       fmt::format("{:.4f}; {:.2f}", data.number(row, "perplexity"),
                                   data.number(row, "not_worse_than_greedy"))});
    summary.push_back({"… equation 3 with contexts along the target's texts",
                       fmt::format("{:.4f}", data.number(row, "equation_3"))});
  }
  summary.push_back({"γ = 1, 2, 4, 8 in turn: the same",
                     fmt::format("{:.4f}; {:.2f}", std::exp(varying.mean()), varying_better.mean())});
  summary.push_back({"γ random, 1, 2, 4 or 8: perplexity", fmt::format("{:.4f}", std::exp(random.mean()))});
  summary.push_back({"… equation 3 with contexts along the target's texts",
                     fmt::format("{:.4f}", std::exp(random_contexts.mean()))});
  return Report{std::move(data),
                {fmt::format("Exact joint decoding on {} random models of {} states", models, states),
                 {std::move(by_length), std::move(by_text)}},
                std::move(summary)};
}

}  // namespace spectr::lab
