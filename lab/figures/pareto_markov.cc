// Yin et al., figure 4: rejection against bias over whole sequences.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/figures/biased_rules.h"
#include "lab/figures/figures.h"
#include "lab/simulate.h"

namespace spectr::lab {
namespace {

constexpr std::size_t steps = 12;

}  // namespace

Result<Report> pareto_markov(const Context& context) {
  const MarkovPair large = MarkovPair::random(7, 50, context.seed);
  const MarkovPair small = MarkovPair::random(3, context.quick ? 4 : 6, context.seed);
  DataTable data({"states", "horizon", "rule", "epsilon", "rejections", "misses", "bias", "distance",
                  "enumerated_corrections", "enumerated_text_bias"});
  double off_form = 0.0;
  std::size_t done = 0;
  for (const MarkovPair* pair : {&large, &small}) {
    for (const BiasedRule& rule : biased_rules) {
      for (const double epsilon : epsilons(*pair, steps)) {
        const BiasedText text = biased_text(*pair, epsilon, rule.correction);
        Cell corrections = "", bias = "";
        if (pair == &small) {
          SPECTR_TRY(const EnumeratedDecoder measured, enumerate(*pair, rule.method, {.epsilon = epsilon}));
          corrections = measured.corrections;
          bias = measured.tv;
          off_form = std::max(off_form, std::abs(measured.corrections - text.misses));
          context.progress(++done, 2 * (steps + 1));
        }
        data.add({static_cast<double>(pair->states()), static_cast<double>(pair->horizon()), rule.name,
                  epsilon, text.rejections, text.misses, text.bias, text.distance, corrections, bias});
      }
    }
  }

  const auto rows = [&](const MarkovPair& pair, const BiasedRule& rule) {
    return data.where({{"states", static_cast<double>(pair.states())}, {"rule", rule.name}});
  };
  Panel sums, texts;
  sums.title = "7 states, T = 50: sums over the tokens";
  texts.title = fmt::format("3 states, T = {}: enumerated", small.horizon());
  sums.x = {.label = "Σ bias of the tokens", .from = 0.0};
  sums.y = {.label = "rejections per text", .from = 0.0};
  texts.x = {.label = "bias: TV of the whole text's law", .from = 0.0};
  texts.y = {.label = "corrections per text", .from = 0.0};
  sums.legend = texts.legend = "top right";
  std::vector<Line> summary;
  for (const BiasedRule& rule : biased_rules) {
    sums.series.push_back(
        {rule.title, Style::joined, rule.colour, points(data, rows(large, rule), "bias", "rejections")});
    texts.series.push_back(
        {rule.title, Style::joined, rule.colour,
         points(data, rows(small, rule), "enumerated_text_bias", "enumerated_corrections")});
    for (const std::size_t row : {rows(large, rule).front(), rows(large, rule)[steps / 3]}) {
      summary.push_back(
          {fmt::format("{}, ε = {:.3f}: rejections, Σ bias", rule.title, data.number(row, "epsilon")),
           fmt::format("{:.4f}, {:.4f}", data.number(row, "rejections"), data.number(row, "bias"))});
    }
  }
  summary.push_back(
      {"corrections, largest |closed form − enumerated|, small pair", fmt::format("{:.1e}", off_form)});
  return Report{std::move(data),
                {"Rejection against bias over a text", {std::move(sums), std::move(texts)}},
                std::move(summary)};
}

}  // namespace spectr::lab
