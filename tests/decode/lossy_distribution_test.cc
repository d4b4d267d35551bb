// The distributions of lossy methods: by formulas if there are any, otherwise by bounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "spectr/base/counter_random.h"
#include "spectr/base/enumerator.h"
#include "spectr/decode/generate.h"
#include "tests/support/tabular_pair.h"
#include "tests/support/value_of.h"

namespace spectr {
namespace {

using namespace test;

using Row = std::vector<double>;

MethodOptions biased(double epsilon, std::size_t length = 1) {
  MethodOptions options = options_of(1, length);
  options.epsilon = epsilon;
  return options;
}

/// Over-acceptance b = min(1, (q + ε)/p) and the quantities that follow (Yin et al., 2024, section 4).
struct OverAcceptance {
  double tv = 0.0, rejection = 0.0, min_loss = 0.0;

  OverAcceptance(const Row& p, const Row& q, double epsilon) {
    double off = 0.0;
    for (std::size_t x = 0; x < p.size(); ++x) {
      const double b = p[x] > 0.0 ? std::min(1.0, (q[x] + epsilon) / p[x]) : 1.0;
      tv += 0.5 * std::abs(p[x] - q[x]);
      rejection += (1.0 - b) * p[x];
      off += std::abs(q[x] - b * p[x]);
    }
    min_loss = 0.5 * off - 0.5 * rejection;
  }
};

const std::vector<std::pair<Row, Row>> pairs = {{{0.5, 0.3, 0.2}, {0.1, 0.3, 0.6}},
                                                {{0.9, 0.1, 0.0}, {0.0, 0.5, 0.5}},
                                                {{0.25, 0.25, 0.5}, {0.25, 0.25, 0.5}},
                                                {{0.7, 0.2, 0.1}, {0.2, 0.5, 0.3}}};

TEST(BiasedOpt, BiasOfATokenIsTheLeastLoss) {
  for (const auto& [p, q] : pairs) {
    for (double epsilon : {0.0, 0.01, 0.1, 0.3, 1.0}) {
      const OverAcceptance formula(p, q, epsilon);
      const MethodDistribution found =
          method_distribution(TabularPair::constant(p, q), "biased-opt", biased(epsilon), {.horizon = 1});
      EXPECT_NEAR(found.tv, formula.min_loss, 1e-14) << epsilon;
      EXPECT_NEAR(found.exact.expected_rejections, formula.rejection, 1e-14) << epsilon;
      EXPECT_NEAR(found.tv + found.exact.expected_rejections, formula.tv, 1e-14) << "the line of the plane";
    }
  }
}

/// Returns the expected sum of the TV that blocks of one token report.
double reported_bias(const TabularPair& pair, std::string_view method, const MethodOptions& options) {
  Decoder decoder = decoder_of(method, options);
  OwnedModels models = pair.models(method, decoder, WarpOptions::none(), 1);
  const std::vector<Token> sequence = {0};
  double bias = 0.0;
  Enumerator outcomes;
  do {
    const Block block = decoder.step({sequence, 1, 0, {}}, models, outcomes).value();
    for (double tv : block.biases.value()) bias += outcomes.probability() * tv;
  } while (outcomes.next());
  return bias;
}

TEST(Biased, ReportsTheBiasThatItHas) {
  for (const auto& [p, q] : pairs) {
    for (double epsilon : {0.0, 0.05, 0.3}) {
      const TabularPair pair = TabularPair::constant(p, q);
      for (const char* method : {"biased-opt", "biased-uno"}) {
        const double tv = method_distribution(pair, method, biased(epsilon), {.horizon = 1}).tv;
        EXPECT_NEAR(reported_bias(pair, method, biased(epsilon)), tv, 1e-14) << method << " " << epsilon;
      }
    }
  }
}

TEST(Biased, UnoIsNeverBetterThanOpt) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const TabularPair pair = TabularPair::random(3, 1, seed);
    const double epsilon = 0.02 * seed;
    const auto tv = [&](const char* method) {
      return method_distribution(pair, method, biased(epsilon), {.horizon = 1}).tv;
    };
    EXPECT_GE(tv("biased-uno"), tv("biased-opt") - 1e-14);
  }
}

TEST(Biased, EpsilonZeroIsSpeculativeDecodingForOpt) {
  const TabularPair pair = TabularPair::random(3, 4, 2);
  const MethodDistribution exact = method_distribution(pair, "speculative", options_of(1, 3));
  const MethodDistribution opt = method_distribution(pair, "biased-opt", biased(0.0, 3));
  EXPECT_LE(opt.tv, 1e-12);
  EXPECT_NEAR(opt.exact.expected_rejections, exact.exact.expected_rejections, 1e-13);
  EXPECT_NEAR(opt.exact.expected_target_calls, exact.exact.expected_target_calls, 1e-13);
}

TEST(Biased, RejectionAndBiasOfOptAddUpToTheDistanceOfTheDistributions) {
  // TV = 0.4 at every position. A block has one draft, which is tested, and a
  // possible bonus token, which is not.
  const TabularPair pair = TabularPair::constant(Row{0.7, 0.2, 0.1}, Row{0.3, 0.3, 0.4});
  for (const double epsilon : {0.0, 0.05, 0.1, 0.3}) {
    Decoder decoder = decoder_of("biased-opt", biased(epsilon, 1));
    OwnedModels models = pair.models("biased-opt", decoder, WarpOptions::none(), 64);
    CounterRandom choices(3);
    const std::vector<Token> prompt = {0};
    const auto generation = generate(decoder, models, prompt, {.limit = 63}, choices);
    ASSERT_TRUE(generation);
    const Statistics& s = generation->statistics;
    const double tested = static_cast<double>(s.blocks()) / static_cast<double>(s.generated());
    ASSERT_TRUE(s.rejection() && s.bias_tv());
    EXPECT_NEAR(*s.rejection() + *s.bias_tv(), 0.4 * tested, 1e-12) << epsilon;
  }
}

MethodOptions beams(std::size_t width, std::size_t length, BeamMode mode, double tau = 0.0) {
  MethodOptions options = options_of(1, length);
  options.beams = width;
  options.beam_mode = mode;
  options.tau = tau;
  return options;
}

TEST(Mtad, TauZeroTakesEveryDraftOfPositiveTargetProbability) {
  const TabularPair positive = TabularPair::random(3, 4, 21);
  for (BeamMode mode : {BeamMode::draw, BeamMode::top}) {
    const MethodDistribution found = method_distribution(positive, "mtad", beams(2, 2, mode));
    EXPECT_EQ(found.exact.expected_rejections, 0.0);
    EXPECT_NEAR(found.exact.expected_target_calls, 2.0, 1e-12);  // of 4 tokens: blocks of 2 + 1 and of 1
  }
}

TEST(Mtad, TauZeroStopsBeforeATokenThatTheTargetExcludes) {
  // The draft's likeliest token is 0, which the target excludes: each block is one correction from q.
  const MethodDistribution found =
      method_distribution(TabularPair::constant(Row{0.6, 0.4, 0.0}, Row{0.0, 0.5, 0.5}), "mtad",
                          beams(1, 2, BeamMode::top), {.horizon = 3});
  EXPECT_LE(found.tv, 1e-15);
  EXPECT_NEAR(found.exact.expected_target_calls, 3.0, 1e-14);
  EXPECT_NEAR(found.exact.expected_rejections, 3.0, 1e-14);
}

/// Returns a pair with two steps whose rows do not depend on the last token.
TabularPair two_steps(const Row& p1, const Row& p2, const Row& q1, const Row& q2) {
  const auto table = [](const Row& first, const Row& second) {
    Row rows;
    for (const Row& row : {first, first, second, second}) rows.insert(rows.end(), row.begin(), row.end());
    return TabularModel(2, 2, rows);
  };
  return {{table(p1, p2)}, table(q1, q2)};
}

TEST(Mtad, ALaterPrefixMayPassWhereAnEarlierOneFails) {
  // The ratios of the likeliest draft (0, 0) are 0.3/0.6 = 0.5, then 0.5 · 0.9/0.6 = 0.75.
  const TabularPair pair = two_steps({0.6, 0.4}, {0.6, 0.4}, {0.3, 0.7}, {0.9, 0.1});
  const auto calls = [&](double tau) {
    return method_distribution(pair, "mtad", beams(1, 2, BeamMode::top, tau), {.horizon = 2})
        .exact.expected_target_calls;
  };
  EXPECT_NEAR(calls(0.6), 1.0, 1e-15);  // 0.5 fails, 0.75 passes: both tokens are accepted
  EXPECT_GT(calls(0.8), 1.5);           // neither passes
  EXPECT_NEAR(calls(0.4), 1.0, 1e-15);
}

TEST(Mtad, TauZeroTakesDraftsThatTheTargetFindsVeryUnlikely) {
  // The target's likelihood of the likeliest draft (0, 0, …) is 10⁻³⁰⁰ after 30 tokens, 10⁻⁴⁰⁰ after 40.
  const TabularPair pair = TabularPair::constant(Row{0.9, 0.1}, Row{1e-10, 1.0 - 1e-10});
  Decoder decoder = decoder_of("mtad", beams(1, 40, BeamMode::top));
  OwnedModels models = pair.models("mtad", decoder, WarpOptions::none(), 41);
  CounterRandom choices(1);
  const Token sequence[] = {0};
  const auto block =
      decoder.step({.sequence = sequence, .left = 41, .index = 0, .ends = {}}, models, choices);
  ASSERT_TRUE(block);
  EXPECT_EQ(block->accepted, 40u);
}

TEST(Mtad, TauOneAcceptsNothingAndIsPlainDecoding) {
  const TabularPair pair = TabularPair::random(3, 4, 22);
  for (const TabularPair& models : {pair, pair.with_equal_draft()}) {  // equal models have ratio 1
    for (const BeamMode mode : {BeamMode::draw, BeamMode::top}) {
      const MethodDistribution found = method_distribution(models, "mtad", beams(2, 2, mode, 1.0));
      EXPECT_LE(found.tv, 1e-12);
      EXPECT_NEAR(found.exact.expected_target_calls, 4.0, 1e-12);  // blocks of one token
    }
  }
}

TEST(Mtad, EqualModelsPassEveryThresholdBelowOne) {
  const TabularPair pair = TabularPair::random(3, 4, 22).with_equal_draft();
  const MethodDistribution found = method_distribution(pair, "mtad", beams(3, 4, BeamMode::top, 0.999999));
  EXPECT_EQ(found.exact.expected_rejections, 0.0);
  EXPECT_NEAR(found.exact.expected_target_calls, 1.0, 1e-15);
}

std::vector<Token> only_output(const MethodDistribution& found) {
  EXPECT_EQ(found.exact.distribution.size(), 1u);
  return found.exact.distribution.begin()->first;
}

EnumerationSettings greedy(std::size_t horizon) {
  EnumerationSettings settings{.horizon = horizon};
  settings.warp.temperature = 0.0;
  return settings;
}

TEST(Mtjd, TheTopBeamsOfOneTokenAreGreedyDecoding) {
  for (std::uint32_t seed : {31u, 32u, 33u}) {
    const TabularPair pair = TabularPair::random(4, 5, seed);
    const auto plain = only_output(method_distribution(pair, "plain", options_of(1, 1), greedy(5)));
    for (std::size_t width : {1u, 3u}) {
      EXPECT_EQ(
          only_output(method_distribution(pair, "mtjd", beams(width, 1, BeamMode::top), {.horizon = 5})),
          plain);
    }
  }
}

TEST(Mtjd, OneDrawnBeamIsPlainDecoding) {
  const TabularPair pair = TabularPair::random(3, 4, 34);
  for (std::size_t length : {1u, 2u, 3u}) {
    const MethodDistribution found = method_distribution(pair, "mtjd", beams(1, length, BeamMode::draw));
    EXPECT_LE(found.tv, 1e-12) << length;
    EXPECT_NEAR(found.exact.expected_target_calls, 4.0, 1e-12) << "every token takes a pass of the target";
  }
}

TEST(Mtjd, BeamsAreTheSameHoweverLong) {
  // The distribution over 16 tokens is flat, except that the last is a little likelier.
  // 0.06³³⁰ is below the smallest double.
  Row q(16, 0.06);
  q.back() = 0.1;
  const TabularPair pair = TabularPair::constant(q, q);
  for (const auto& [width, length] : {std::pair{1uz, 1000uz}, {3uz, 330uz}}) {
    for (const BeamMode mode : {BeamMode::draw, BeamMode::top}) {
      Decoder decoder = decoder_of("mtjd", beams(width, length, mode));
      OwnedModels models = pair.models("mtjd", decoder, WarpOptions::none(), length);
      CounterRandom choices(1);
      const Token sequence[] = {0};
      const auto block =
          decoder.step({.sequence = sequence, .left = length, .index = 0, .ends = {}}, models, choices);
      ASSERT_TRUE(block) << block.error().message;
      ASSERT_EQ(block->tokens.size(), length);
      const auto last = static_cast<std::size_t>(std::ranges::count(block->tokens, 15));
      if (mode == BeamMode::top) {
        EXPECT_EQ(last, length);
        continue;
      }
      // A tenth of the draws, more for the best of three beams; a tolerance of five standard deviations.
      EXPECT_GE(last, length / 20);
      EXPECT_LE(last, width == 1 ? 148 : length / 2);
    }
  }
}

TEST(Mtjd, WideBeamsFindTheLikeliestText) {
  const TabularPair pair = TabularPair::random(3, 3, 35);
  const MethodDistribution plain = method_distribution(pair, "plain", options_of(1, 1), {.horizon = 3});
  const auto best =
      std::ranges::max_element(plain.exact.distribution, {}, [](const auto& entry) { return entry.second; });
  EXPECT_EQ(only_output(method_distribution(pair, "mtjd", beams(27, 3, BeamMode::top), {.horizon = 3})),
            best->first);
}

MethodOptions bild(double fallback, double rollback) {
  MethodOptions options = options_of(1, 3);
  options.bild_fallback = fallback;
  options.bild_rollback = rollback;
  return options;
}

TEST(Bild, IsGreedyDecodingAtTemperatureZero) {
  for (std::uint32_t seed : {41u, 42u, 43u}) {
    const TabularPair pair = TabularPair::random(3, 5, seed);
    const auto plain = only_output(method_distribution(pair, "plain", options_of(1, 1), greedy(5)));
    for (double rollback : {0.0, 2.0}) {
      EXPECT_EQ(only_output(method_distribution(pair, "bild", bild(0.9, rollback), greedy(5))), plain);
    }
  }
}

TEST(Bild, ADraftThatIsNeverConfidentIsPlainDecoding) {
  const MethodDistribution found = method_distribution(TabularPair::random(3, 4, 44), "bild", bild(1.0, 2.0));
  EXPECT_LE(found.tv, 1e-12);
  EXPECT_NEAR(found.exact.expected_target_calls, 4.0, 1e-12);
}

TEST(Bild, WithoutARollbackTheDraftsDistributionComesOut) {
  // All tokens are drafts and none is rolled back: tokens 1 … 3 have the draft's distribution.
  const Row p = {0.8, 0.2}, q = {0.3, 0.7};
  const MethodDistribution found =
      method_distribution(TabularPair::constant(p, q), "bild", bild(0.0, 50.0), {.horizon = 3});
  for (const auto& [output, probability] : found.exact.distribution) {
    double expected = 1.0;
    for (Token token : output) expected *= p[static_cast<std::size_t>(token)];
    EXPECT_NEAR(probability, expected, 1e-15);
  }
}

TEST(Bild, RollsBackToTheFirstUnlikelyToken) {
  // −ln 0.3 = 1.2 exceeds the threshold 1: token 0 is always rolled back, token 1 never.
  const Row p = {0.8, 0.2}, q = {0.3, 0.7};
  const MethodDistribution found =
      method_distribution(TabularPair::constant(p, q), "bild", bild(0.0, 1.0), {.horizon = 1});
  EXPECT_NEAR(found.exact.distribution.at({0}), 0.8 * 0.3, 1e-15);
  EXPECT_NEAR(found.exact.distribution.at({1}), 0.2 + 0.8 * 0.7, 1e-15);
  EXPECT_NEAR(found.exact.expected_rejections, 0.8, 1e-15);
}

TEST(Lossy, ABiasedPlanMakesAMethodSo) {
  const MethodRule& spectr = *find_method("spectr").value();
  EXPECT_TRUE(is_lossless(spectr, {}));
  EXPECT_TRUE(is_lossless(spectr, options_of(4, 4, "optimal")));
  EXPECT_FALSE(is_lossless(spectr, options_of(1, 4, "epsilon-opt")));
  EXPECT_FALSE(is_lossless(*find_method("mtad").value(), {}));
}

// If all beams have ended, no further pass is needed: equal outputs then take 2 or 3 passes.
TEST(Lossy, BeamsThatEndEarlyTakeFewerPassesForTheSameText) {
  const Row q = {0.6, 0.3, 0.1};
  const TabularPair pair = TabularPair::constant(q, q);
  const MethodOptions options = beams(2, 3, BeamMode::draw);
  const EnumerationSettings settings{.horizon = 3, .ends = {0}, .start = 1};
  Decoder decoder = decoder_of("mtjd", options);
  OwnedModels models = pair.models("mtjd", decoder, settings.warp, settings.horizon);
  const Token sequence[] = {settings.start};
  double calls = 0.0;
  Enumerator choices;
  do {  // each output is one block
    const Block block =
        value_of(decoder.step({sequence, settings.horizon, 0, settings.ends}, models, choices));
    calls += choices.probability() * static_cast<double>(block.target_calls);
  } while (choices.next());
  EXPECT_GT(calls, 2.0);
  EXPECT_LT(calls, 3.0);
  EXPECT_NEAR(method_distribution(pair, "mtjd", options, settings).exact.expected_target_calls, calls, 1e-12);
}

TEST(Lossy, OnlyMethodsWithAFormulaReportABias) {
  const TabularPair pair = TabularPair::random(3, 4, 45);
  const std::vector<Token> sequence = {0};
  for (const MethodRule& rule : method_rules()) {
    MethodOptions options = options_of(2, 2);
    if (rule.name == "tree") options.tree = {2, 1};
    Decoder decoder = decoder_of(rule.name, options);
    OwnedModels models = pair.models(rule.name, decoder, WarpOptions::none(), 4);
    Enumerator first;
    const Block block = decoder.step({sequence, 4, 0, {}}, models, first).value();
    const bool without_formula = rule.name == "mtad" || rule.name == "mtjd" || rule.name == "bild";
    EXPECT_EQ(block.biases.has_value(), !without_formula) << rule.name;
    if (rule.lossless) {
      for (double tv : block.biases.value()) EXPECT_EQ(tv, 0.0) << rule.name;
    }
  }
}

}  // namespace
}  // namespace spectr
