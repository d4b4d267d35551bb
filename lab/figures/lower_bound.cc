// Yin et al., theorem 2 and corollary 1: no unbiased rule rejects less than speculative decoding.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "lab/figures/figures.h"
#include "lab/simulate.h"
#include "lab/theory/over_acceptance.h"
#include "lab/theory/rejections.h"
#include "spectr/decode/tree_drafter.h"
#include "spectr/decode/verify/rule_walk.h"
#include "spectr/lm/tabular_model.h"

namespace spectr::lab {
namespace {

constexpr std::size_t states = 7, horizon = 50;
constexpr int steps = 10;
constexpr double step = 0.02;  // of ε

/// A random rule for accepting a draft: a random share of min(1, q/p), which keeps the rule unbiased, or of
/// twice q/p, which does not.
struct RandomRule {
  const char* name;
  const char* title;
  double most;
  std::size_t colour;
};
constexpr RandomRule random_rules[] = {{"unbiased", "b = u min(1, q/p), u random: unbiased", 1.0, 0},
                                       {"any", "b = min(1, u q/p), u random up to 2", 2.0, 1}};

/// Returns the result of a rule with random b and the best correction at every position. A single random
/// scale per sequence makes the rules differ.
BiasedText random_text(const MarkovPair& pair, const RandomRule& rule, std::mt19937& generator) {
  const double scale = uniform53(generator);
  return biased_text(pair, [&](std::size_t n, std::size_t x) {
    const auto p = pair.p(n, x), q = pair.q(n, x);
    std::vector<double> b;
    for (std::size_t y = 0; y < p.size(); ++y) {
      const double u = rule.most * std::pow(uniform53(generator), scale);
      const double ratio = p[y] > 0.0 ? q[y] / p[y] : 1.0;
      b.push_back(std::min(1.0, u * (rule.most > 1.0 ? ratio : std::min(1.0, ratio))));
    }
    return biased_step(p, q, b, correction_of(p, q, b, Correction::opt));
  });
}

/// Tests rules with arbitrary b and P on the decoder that ends a block at every rejection (algorithm 2).
/// Returns the largest |enumerated corrections − Σ E R| over `rules` of them.
Result<double> any_rules_off(const MarkovPair& pair, std::size_t rules, std::mt19937& generator) {
  double off = 0.0;
  for (std::size_t i = 0; i < rules; ++i) {
    std::vector<RejectionRule> rows;  // by step, then by last token
    for (std::size_t row = 0; row < pair.horizon() * pair.states(); ++row) {
      RejectionRule& rule = rows.emplace_back();
      double total = 0.0;
      for (std::size_t y = 0; y < pair.states(); ++y) {
        rule.accept.push_back(uniform53(generator));
        total += rule.correction.emplace_back(uniform53(generator));
      }
      for (double& P : rule.correction) P /= total;
    }
    const auto at = [&](std::size_t n, std::size_t x) -> const RejectionRule& {
      return rows[n * pair.states() + x];
    };
    const auto after = [&](std::span<const Token> context) -> const RejectionRule& {
      return at(context.size() - 1, static_cast<std::size_t>(context.back()));
    };
    Decoder decoder(
        std::make_unique<TreeDrafter>(TreeDrafter::sequences(1, pair.horizon()), Drafting::independent),
        std::make_unique<RuleWalk>(after));
    SPECTR_TRY(const EnumeratedDecoder measured, enumerate(pair, decoder));
    const BiasedText text = biased_text(pair, [&](std::size_t n, std::size_t x) {
      return biased_step(pair.p(n, x), pair.q(n, x), at(n, x).accept, at(n, x).correction);
    });
    off = std::max(off, std::abs(measured.corrections - text.rejections));
  }
  return off;
}

/// The extreme values over the rows of a table that the claims bound.
struct Extremes {
  double min_unbiased = std::numeric_limits<double>::infinity();  // rejections of unbiased rules / bound
  double min_biased = std::numeric_limits<double>::infinity();    // bias of rules that reject less
  double min_sum = std::numeric_limits<double>::infinity();       // (rejections + bias) / Σ TV of the text

  void see(const BiasedText& text, double bound) {
    constexpr double rounding = 1e-9;
    if (text.bias < rounding) min_unbiased = std::min(min_unbiased, text.rejections / bound);
    if (text.rejections < bound - rounding) min_biased = std::min(min_biased, text.bias);
    min_sum = std::min(min_sum, (text.rejections + text.bias) / text.distance);
  }
};

}  // namespace

Result<Report> lower_bound(const Context& context) {
  const MarkovPair pair = MarkovPair::random(states, horizon, context.seed);
  const double bound = total(expected_rejections(pair));
  DataTable data({"rule", "parameter", "rejections", "bias", "distance", "bound"});
  Extremes extremes;
  const auto add = [&](const char* rule, double parameter, const BiasedText& text) {
    data.add({rule, parameter, text.rejections, text.bias, text.distance, bound});
    extremes.see(text, bound);
  };
  for (int i = -steps; i <= steps; ++i) {
    const double epsilon = step * i;
    add("epsilon", epsilon, biased_text(pair, epsilon, Correction::opt));
  }
  const std::size_t runs = context.runs_or(200, 5);
  std::mt19937 generator(context.seed);
  for (const RandomRule& rule : random_rules) {
    for (std::size_t run = 0; run < runs; ++run)
      add(rule.name, static_cast<double>(run), random_text(pair, rule, generator));
  }
  // Checks the decoder itself, on a pair that can be enumerated.
  const MarkovPair small = MarkovPair::random(3, 4, context.seed);
  double tv = 0.0, off = 0.0;
  for (const double epsilon : {-0.05, -0.2}) {
    SPECTR_TRY(const EnumeratedDecoder measured, enumerate(small, "biased-opt", {.epsilon = epsilon}));
    tv = std::max(tv, measured.tv);
    off = std::max(off, std::abs(measured.corrections - biased_text(small, epsilon, Correction::opt).misses));
  }

  SPECTR_TRY(const double off_any, any_rules_off(small, context.quick ? 2 : 10, generator));

  Panel panel{fmt::format("{} states, horizon T = {}", states, horizon),
              {.label = "Σ bias of the tokens", .from = -0.5},
              {.label = "rejections per text", .from = 0.0, .to = 1.25 * horizon},
              {},
              "top right"};
  for (const RandomRule& rule : random_rules) {
    panel.series.push_back({rule.title, Style::marks, rule.colour,
                            points(data, data.where({{"rule", rule.name}}), "bias", "rejections")});
  }
  panel.series.push_back({"b = min(1, (q + ε)₊/p), ε from −0.2 to 0.2", Style::joined, 2,
                          points(data, data.where({{"rule", "epsilon"}}), "bias", "rejections")});
  panel.series.push_back({"speculative decoding",
                          Style::dashes,
                          7,
                          {{0.0, bound, bound, bound}, {horizon / 2.0, bound, bound, bound}}});
  std::vector<Line> summary = {
      {"rejections of speculative decoding, Σ E TV", fmt::format("{:.4f}", bound), paper_rejections},
      {"unbiased rules: least rejections / Σ E TV", fmt::format("{:.6f}", extremes.min_unbiased), "≥ 1"},
      {"rules that reject less: least Σ bias", fmt::format("{:.4f}", extremes.min_biased), "> 0"},
      {"all rules: least (rejections + Σ bias)/Σ TV", fmt::format("{:.6f}", extremes.min_sum), "≥ 1"},
      {"ε < 0, decoder enumerated: largest TV of the text's law", fmt::format("{:.1e}", tv), "0"},
      {"… largest |corrections − formula|", fmt::format("{:.1e}", off)},
      {"any b and P, decoder enumerated: largest |corrections − Σ E R|", fmt::format("{:.1e}", off_any)}};
  return Report{std::move(data), {"Rules that accept one draft", {std::move(panel)}}, std::move(summary)};
}

}  // namespace spectr::lab
