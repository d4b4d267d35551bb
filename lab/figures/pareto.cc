// Yin et al., figure 4: what rejects less is biased more.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/figures/figures.h"
#include "lab/theory/over_acceptance.h"
#include "spectr/decode/decoder_law.h"
#include "spectr/decode/methods.h"

namespace spectr::lab {
namespace {

struct Rule {
  const char* name;  // of the data
  const char* method;
  const char* title;
  Correction correction;
  std::size_t colour;
};
constexpr Rule rules[] = {{"opt", "biased-opt", "OPT", Correction::opt, 0},
                          {"uno", "biased-uno", "UNO", Correction::uno, 1}};

/// What the decoder itself does, by enumeration of all that can happen, from a uniformly drawn start.
struct Enumerated {
  double rejections = 0.0;
  double bias = 0.0;  // TV between the laws of whole texts
};

Result<Enumerated> enumerate(const MarkovPair& pair, const char* method, double epsilon) {
  SPECTR_TRY(const MethodRule* rule, find_method(method));
  SPECTR_TRY(Decoder decoder, make_decoder(*rule, {.length = pair.horizon(), .epsilon = epsilon}));
  Models models = pair.start(decoder.most_nodes(pair.horizon()));
  const DecoderLawOptions options{.horizon = pair.horizon(), .ends = {}};
  Enumerated out;
  const double share = 1.0 / static_cast<double>(pair.states());
  for (std::size_t s = 0; s < pair.states(); ++s) {
    const Token start[] = {static_cast<Token>(s)};
    SPECTR_TRY(const DecoderLaw law, enumerate_decoder(decoder, models, start, options));
    SPECTR_TRY(const auto target, enumerate_target(models, start, options));
    out.rejections += share * law.expected_rejections;
    out.bias += share * total_variation(law.law, target);
  }
  return out;
}

/// One token: a pair of laws that does not depend on the state.
MarkovPair one_token(std::size_t vocabulary, std::uint32_t seed) {
  const MarkovPair pair = MarkovPair::random(vocabulary, 1, seed);
  std::vector<double> p, q;
  for (std::size_t x = 0; x < vocabulary; ++x) {
    p.insert(p.end(), pair.p(0, 0).begin(), pair.p(0, 0).end());
    q.insert(q.end(), pair.q(0, 0).begin(), pair.q(0, 0).end());
  }
  return {vocabulary, 1, std::move(p), std::move(q)};
}

/// ε from 0 to where nothing is rejected any more, max (p − q).
std::vector<double> epsilons(const MarkovPair& pair, std::size_t steps) {
  double most = 0.0;
  for (std::size_t n = 0; n < pair.horizon(); ++n) {
    for (std::size_t x = 0; x < pair.states(); ++x) {
      for (std::size_t y = 0; y < pair.states(); ++y)
        most = std::max(most, pair.p(n, x)[y] - pair.q(n, x)[y]);
    }
  }
  std::vector<double> all;
  for (std::size_t i = 0; i <= steps; ++i) {
    all.push_back(most * static_cast<double>(i) / static_cast<double>(steps));
  }
  return all;
}

}  // namespace

Result<Report> pareto(const Context& context) {
  const MarkovPair pair = one_token(8, context.seed);
  const auto p = pair.p(0, 0), q = pair.q(0, 0);
  double tv = 0.0;
  for (std::size_t y = 0; y < p.size(); ++y) tv += std::max(0.0, q[y] - p[y]);

  Data data(
      {"rule", "epsilon", "rejection", "bias", "least_bias", "enumerated_rejection", "enumerated_bias"});
  double off_line = 0.0, off_form = 0.0;
  for (const Rule& rule : rules) {
    for (const double epsilon : epsilons(pair, 12)) {
      const BiasedStep step = biased_step(p, q, epsilon, rule.correction);
      SPECTR_TRY(const Enumerated measured, enumerate(pair, rule.method, epsilon));
      data.add({rule.name, epsilon, step.rejection, step.bias, least_bias(p, q, epsilon), measured.rejections,
                measured.bias});
      off_form = std::max(
          {off_form, std::abs(step.rejection - measured.rejections), std::abs(step.bias - measured.bias)});
      if (rule.correction == Correction::opt) {
        off_line = std::max(off_line, std::abs(measured.rejections + measured.bias - tv));
      }
    }
  }

  Panel panel{fmt::format("one token, {} tokens to choose from, TV(p, q) = {:.4f}", p.size(), tv),
              {.label = "bias: TV of the output's law from q", .from = 0.0, .to = 1.3 * tv},
              {.label = "probability of rejection", .from = 0.0, .to = 1.3 * tv},
              {{"feasible",
                Style::area,
                5,
                {{0.0, tv, tv, 1.3 * tv}, {tv, 0.0, 0.0, 1.3 * tv}, {1.3 * tv, 0.0, 0.0, 1.3 * tv}}},
               {"front: rejection + bias = TV", Style::line, 6, {{0.0, tv, tv, tv}, {tv, 0.0, 0.0, 0.0}}}},
              "top right"};
  for (const Rule& rule : rules) {
    panel.series.push_back(
        {fmt::format("{}, ε from 0 upwards (enumerated)", rule.title), Style::marks, rule.colour,
         points(data, data.where({{"rule", rule.name}}), "enumerated_bias", "enumerated_rejection")});
  }
  std::vector<Line> summary = {
      {"TV(p, q)", fmt::format("{:.6f}", tv)},
      {"OPT, largest |rejection + bias − TV| (enumerated)", fmt::format("{:.1e}", off_line), "0"},
      {"largest |formula − enumerated|", fmt::format("{:.1e}", off_form), "0"}};
  return Report{std::move(data), {"Rejection against bias", {std::move(panel)}}, std::move(summary)};
}

Result<Report> pareto_markov(const Context& context) {
  const MarkovPair large = MarkovPair::random(7, 50, context.seed);
  const MarkovPair small = MarkovPair::random(3, context.quick ? 4 : 6, context.seed);
  Data data({"horizon", "rule", "epsilon", "rejections", "bias", "distance", "enumerated_rejections",
             "enumerated_text_bias"});
  double off_form = 0.0;
  const std::size_t steps = 12;
  std::size_t done = 0;
  for (const MarkovPair* pair : {&large, &small}) {
    for (const Rule& rule : rules) {
      for (const double epsilon : epsilons(*pair, steps)) {
        const BiasedText text = biased_text(*pair, epsilon, rule.correction);
        Cell rejections = "", bias = "";
        if (pair == &small) {
          SPECTR_TRY(const Enumerated measured, enumerate(*pair, rule.method, epsilon));
          rejections = measured.rejections;
          bias = measured.bias;
          off_form = std::max(off_form, std::abs(measured.rejections - text.rejections));
          context.progress(++done, 2 * (steps + 1));
        }
        data.add({static_cast<double>(pair->horizon()), rule.name, epsilon, text.rejections, text.bias,
                  text.distance, rejections, bias});
      }
    }
  }

  const auto rows = [&](const MarkovPair& pair, const Rule& rule) {
    return data.where({{"horizon", static_cast<double>(pair.horizon())}, {"rule", rule.name}});
  };
  Panel sums{"7 states, T = 50: sums over the tokens",
             {.label = "Σ bias of the tokens", .from = 0.0},
             {.label = "rejections per text", .from = 0.0},
             {},
             "top right"};
  Panel texts{fmt::format("3 states, T = {}: enumerated", small.horizon()),
              {.label = "bias: TV of the whole text's law", .from = 0.0},
              {.label = "rejections per text", .from = 0.0},
              {},
              "top right"};
  std::vector<Line> summary;
  for (const Rule& rule : rules) {
    sums.series.push_back(
        {rule.title, Style::joined, rule.colour, points(data, rows(large, rule), "bias", "rejections")});
    texts.series.push_back(
        {rule.title, Style::joined, rule.colour,
         points(data, rows(small, rule), "enumerated_text_bias", "enumerated_rejections")});
    const std::size_t exact = rows(large, rule).front(), middle = rows(large, rule)[steps / 3];
    summary.push_back(
        {fmt::format("{}, ε = 0: rejections, Σ bias", rule.title),
         fmt::format("{:.4f}, {:.4f}", data.number(exact, "rejections"), data.number(exact, "bias"))});
    summary.push_back(
        {fmt::format("{}, ε = {:.3f}: rejections, Σ bias", rule.title, data.number(middle, "epsilon")),
         fmt::format("{:.4f}, {:.4f}", data.number(middle, "rejections"), data.number(middle, "bias"))});
  }
  summary.push_back({"largest |rejections − enumerated|, small pair", fmt::format("{:.1e}", off_form), "0"});
  return Report{std::move(data),
                {"Rejection against bias over a text", {std::move(sums), std::move(texts)}},
                std::move(summary)};
}

}  // namespace spectr::lab
