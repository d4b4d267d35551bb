// Choosing K and L by costs and past acceptance leaves the law alone, and follows the costs.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "spectr/base/counter_random.h"
#include "spectr/decode/auto_drafter.h"
#include "spectr/decode/generate.h"
#include "tests/support/tabular_pair.h"

namespace spectr {
namespace {

using namespace test;

/// A pass of r rows of the target costs 1 + slope (r − 1), one of each draft model a share of it.
MethodOptions measured(double slope, const std::vector<double>& drafts) {
  const auto curve = [slope](double share) { return CostCurve({{1, share}, {2, share * (1.0 + slope)}}); };
  Costs costs{curve(1.0), {}, {}};
  for (double draft : drafts) costs.drafts.push_back({curve(draft)});
  MethodOptions options;
  options.costs = std::make_shared<Costs>(std::move(costs));
  return options;
}

TEST(Auto, HasTheTargetsLawWhateverItChooses) {
  std::set<double> calls;
  for (const std::uint32_t seed : {1u, 2u, 3u, 4u}) {
    const TabularPair pair = TabularPair::random(2, 4, seed);
    for (const double slope : {0.02, 0.05, 0.1, 0.2}) {
      const MethodLaw found = method_law(pair, "auto", measured(slope, {0.1}));
      EXPECT_LE(found.tv, 1e-12) << "seed " << seed << ", slope " << slope;
      EXPECT_LT(found.law.expected_target_calls, 3.9) << "seed " << seed << ", slope " << slope;
      calls.insert(found.law.expected_target_calls);
    }
  }
  EXPECT_LT(*calls.begin(), 3.0) << "it drafts much";
  EXPECT_GT(calls.size(), 4U) << "and not always alike";
}

TEST(Auto, KeepsTheLawWithEndTokensAndFilters) {
  WarpOptions warp = WarpOptions::none();
  warp.top_k = 2;
  warp.temperature = 0.7;
  const LawSettings settings{.horizon = 4, .ends = {1}, .warp = warp};
  for (const std::vector<double>& drafts : {std::vector{0.1}, {0.1, 0.05}, {}}) {
    const TabularPair pair = TabularPair::random(3, 4, 5, drafts.size());
    const MethodLaw found = method_law(pair, "auto", measured(0.1, drafts), settings);
    EXPECT_LE(found.tv, 1e-12) << drafts.size();
    if (drafts.empty()) continue;
    EXPECT_LT(found.law.expected_target_calls,
              0.95 * method_law(pair, "plain", {}, settings).law.expected_target_calls)
        << "it drafts";
  }
}

TEST(Auto, DecodesPlainlyWhereNothingPays) {
  // A draft pass costs as much as a target pass, and every row as much as a pass.
  const MethodLaw found = method_law(TabularPair::random(3, 4, 1), "auto", measured(1.0, {1.0}));
  EXPECT_NEAR(found.law.expected_target_calls, 4.0, 1e-12);
  EXPECT_EQ(found.law.expected_rejections, 0.0);
}

TEST(Auto, DraftsWhereDraftsAreFree) {
  const MethodLaw found = method_law(TabularPair::random(2, 3, 1).with_equal_draft(), "auto",
                                     measured(0.3, {1e-6}), {.horizon = 3});
  EXPECT_LT(found.law.expected_target_calls, 2.0);
}

TEST(Auto, LearnsThatOnlyTheFirstTokenIsHard) {
  // At the first step the draft is sure of token 0, the target is not; from then on they agree.
  const auto table = [](double first) {
    return TabularModel(2, 2, {first, 1 - first, first, 1 - first, 0.5, 0.5, 0.5, 0.5});
  };
  const TabularPair pair = {{table(1.0)}, table(0.5)};
  Decoder decoder = decoder_of("auto", measured(0.02, {0.02}));
  Models models = pair.models("auto", decoder, WarpOptions::none(), 16);
  CounterRandom choices(1);
  const Token text[] = {0};
  for (std::size_t block = 0; block < 400; ++block) {
    models.target->rewind(0);
    models.drafts.front()->rewind(0);
    ASSERT_TRUE(decoder.step({.text = text, .left = 16, .index = block, .ends = {}}, models, choices));
  }
  const auto length = static_cast<double>(decoder.shape().length);
  EXPECT_GE(length, 6);
  EXPECT_NEAR(decoder.drafter().expectation()->tokens, 1.0 + 0.5 * length, 0.1 * length);
}

/// A text by `auto`: which blocks drafted, and how.
struct Told {
  std::size_t looks = 0;  // blocks that drafted only to see
  std::vector<std::size_t> by_model, by_text;
  std::vector<std::size_t> of_model;  // blocks, by model
  std::size_t blocks = 0;
  std::size_t read_by_draft = 0;  // tokens, the first
  double seconds = 0.0;           // by the costs
};

Told told_by_auto(const TabularPair& pair, const MethodOptions& options, std::size_t tokens,
                  std::vector<Token> prompt = {0}) {
  Decoder decoder = decoder_of("auto", options);
  Models models = pair.models("auto", decoder, WarpOptions::none(), tokens);
  CounterRandom choices(1);
  Told told;
  told.of_model.resize(models.drafts.size());
  const auto listener = [&](const Block& block) -> std::optional<std::size_t> {
    const std::optional<std::size_t> model = decoder.drafter().expectation()->model;
    if (decoder.drafter().expectation()->looks) ++told.looks;
    told.seconds += decoder.drafter().expectation()->seconds;
    if (block.drafted > 0) (model ? told.by_model : told.by_text).push_back(told.blocks);
    if (block.drafted > 0 && model) ++told.of_model[*model];
    ++told.blocks;
    return std::nullopt;
  };
  EXPECT_TRUE(generate(decoder, models, prompt, {.limit = tokens}, choices, listener));
  if (!models.drafts.empty()) told.read_by_draft = models.drafts.front()->length();
  return told;
}

TEST(Auto, KeepsTheLawWhereItDraftsFromTheText) {
  // Nodes cost little, the draft as much as the target.
  for (const std::uint32_t seed : {1u, 2u}) {
    const TabularPair pair = TabularPair::random(2, 6, seed);
    const MethodLaw found = method_law(pair, "auto", measured(0.02, {1.0}), {.horizon = 6});
    EXPECT_LE(found.tv, 1e-12) << "seed " << seed;
    EXPECT_LT(found.law.expected_target_calls, 5.0) << "seed " << seed;
  }
}

TEST(Auto, DraftsFromTheTextWhereThatRepeatsItself) {
  // The target goes round in circles, the draft knows nothing and is dear.
  const TabularModel circles(3, 1, {0, 1, 0, 0, 0, 1, 1, 0, 0});
  const TabularPair pair = {{TabularModel(3, 1, std::vector<double>(9, 1.0 / 3))}, circles};
  const Told told = told_by_auto(pair, measured(0.1, {0.9}), 120);
  EXPECT_LT(told.blocks, 40u);
  EXPECT_GT(told.by_text.size(), told.blocks / 2);
}

TEST(Auto, KeepsTheLawWhereATextGrowsTooLongForDrafts) {
  // Up to 64 tokens a row costs little, behind them more than the token that it can bring.
  Costs costs{CostCurve({{1, 1.0}, {2, 1.1}}, {.behind = 0, .per_token = 1.0}),
              {{CostCurve({{1, 0.1}, {2, 0.11}})}},
              {}};
  MethodOptions options;
  options.costs = std::make_shared<const Costs>(std::move(costs));
  const TabularPair pair = TabularPair::random(2, 1, 1);
  const DecoderLawOptions law{.horizon = 5};
  const auto calls_behind = [&](std::size_t length) {
    Decoder decoder = decoder_of("auto", options);
    Models models = pair.models("auto", decoder, WarpOptions::none(), 80);
    const std::vector<Token> prompt(length, 0);
    const auto found = enumerate_decoder(decoder, models, prompt, law);
    const auto target = enumerate_target(models, prompt, law);
    EXPECT_TRUE(found && target) << length;
    EXPECT_LE(total_variation(found->law, *target), 1e-12) << length;
    return found->expected_target_calls;
  };
  EXPECT_NEAR(calls_behind(64), 5.0, 1e-12);  // plain decoding
  EXPECT_LT(calls_behind(40), 4.5);
  const double across = calls_behind(62);
  EXPECT_GT(across, calls_behind(40));
  EXPECT_LT(across, 5.0);
}

TEST(Auto, SaysWhereItDraftsOnlyToSee) {
  // What the draft proposes the target never takes; a perfect draft would pay.
  const TabularPair pair = TabularPair::constant(std::vector{1.0, 0.0}, std::vector{0.0, 1.0});
  const Told told = told_by_auto(pair, measured(0.4, {0.3}), 120);
  EXPECT_EQ(told.looks, told.by_model.size());
  EXPECT_GE(told.looks, 1u);
  EXPECT_LT(told.looks, 8u) << "one look says enough";
  EXPECT_EQ(told_by_auto(pair, measured(0.4, {0.3}), 40).looks, 0u) << "so few tokens are not worth a look";
  // A draft that is the target itself pays.
  const TabularPair equal = TabularPair::random(5, 300, 1).with_equal_draft();
  const Told all = told_by_auto(equal, measured(0.1, {0.1}), 200);
  EXPECT_LT(all.looks, 10u);
  EXPECT_GT(all.by_model.size(), all.looks);
}

TEST(Auto, LeavesTheDraftAloneWhereEvenPerfectDraftsWouldNotPay) {
  // Every row costs nine tenths of a pass.
  const Told told = told_by_auto(TabularPair::random(5, 300, 1), measured(0.9, {0.3}), 200, {0, 1, 2, 3});
  EXPECT_EQ(told.by_model, std::vector<std::size_t>());
  EXPECT_EQ(told.read_by_draft, 0u) << "the prompt neither";
}

TEST(Auto, TakesAtMostThreePercentOrATokenAndAQuarterLongerThanPlainly) {
  // A draft that knows nothing; one that knows all for a while and then nothing; one for every other token.
  constexpr std::size_t V = 5, steps = 300;
  const auto knows = [](auto when) {
    std::mt19937 random(1);
    std::vector<double> p(V * V * steps, 0.0), q = p;
    for (std::size_t step = 0; step < steps; ++step) {
      const std::size_t token = random() % V, guess = when(step) ? token : (token + 1) % V;
      for (std::size_t last = 0; last < V; ++last) {
        const std::size_t row = (step * V + last) * V;
        q[row + token] = p[row + guess] = 1.0;
      }
    }
    return TabularPair{{TabularModel(V, steps, p)}, TabularModel(V, steps, q)};
  };
  const TabularPair pairs[] = {knows([](std::size_t) { return false; }),
                               knows([](std::size_t step) { return step < 20; }),
                               knows([](std::size_t step) { return step % 2 == 0; })};
  double longest = 0.0;
  for (const TabularPair& pair : pairs) {
    for (const double slope : {0.05, 0.2, 0.5}) {
      for (const double draft : {0.02, 0.1, 0.3}) {
        for (const std::size_t tokens : {2u, 8u, 16u, 40u, 100u, 300u}) {
          const Told told = told_by_auto(pair, measured(slope, {draft}), tokens);
          const auto plainly = static_cast<double>(tokens);
          EXPECT_LE(told.seconds, std::max(1.03 * plainly, plainly + 1.25) + 1e-9)
              << tokens << " tokens, slope " << slope << ", draft " << draft;
          longest = std::max(longest, told.seconds / plainly);
        }
      }
    }
  }
  EXPECT_GT(longest, 1.01) << "finding out has its price";
}

TEST(Auto, CountsWhatAlternationTakes) {
  const TabularPair pair = TabularPair::random(5, 300, 1).with_equal_draft();
  MethodOptions options = measured(0.1, {0.1});
  EXPECT_GT(told_by_auto(pair, options, 200).by_model.size(), 10u);
  Costs costs = *options.costs;
  costs.drafts.front().alternation = 10.0;  // more than the plain passes that the longest block saves
  options.costs = std::make_shared<const Costs>(std::move(costs));
  EXPECT_EQ(told_by_auto(pair, options, 200).by_model.size(), 0u);
}

TEST(Auto, DoesNotReadALongPromptForAFewTokens) {
  const TabularPair pair = TabularPair::random(5, 1, 1).with_equal_draft();
  std::mt19937 random(5);
  std::vector<Token> prompt(400);
  for (Token& token : prompt) token = static_cast<Token>(random() % 5);
  EXPECT_EQ(told_by_auto(pair, measured(0.2, {0.1}), 8, prompt).read_by_draft, 0u);
  EXPECT_GT(told_by_auto(pair, measured(0.2, {0.1}), 300, prompt).read_by_draft, 400u);
}

TEST(Auto, CountsReadingAsItIsMeasured) {
  const TabularPair pair = TabularPair::random(5, 1, 1).with_equal_draft();
  std::mt19937 random(5);
  std::vector<Token> prompt(400);
  for (Token& token : prompt) token = static_cast<Token>(random() % 5);
  MethodOptions options = measured(0.2, {0.1});
  Costs costs = *options.costs;
  costs.drafts.front().reading = 1e-4;
  options.costs = std::make_shared<const Costs>(std::move(costs));
  EXPECT_GT(told_by_auto(pair, options, 8, prompt).read_by_draft, 400u);
}

TEST(Auto, LooksAgainAtGrowingIntervalsWhereDraftsDoNotPay) {
  // Half of the drafts are accepted; two of three would have to be. The text does not repeat itself.
  const std::vector<double> sure = {1.0, 0.0, 0.0, 0.0, 0.0, 0.0}, open = {0.5, 0.1, 0.1, 0.1, 0.1, 0.1};
  const Told told = told_by_auto(TabularPair::constant(sure, open), measured(0.6, {0.05}), 1200);
  std::vector<std::size_t> looks;
  for (std::size_t from : {0u, 4u, 72u, 332u}) {
    for (std::size_t block = from; block < from + 4; ++block) looks.push_back(block);
  }
  EXPECT_EQ(told.by_model, looks);
  EXPECT_EQ(told.by_text, std::vector<std::size_t>());
}

TEST(Auto, IsNotDiscouragedByOneBadContext) {
  // The two models disagree about the first token, and never again.
  std::vector<double> p = {1, 0, 1, 0}, q = {0, 1, 0, 1};
  for (int step = 1; step < 200; ++step) {
    for (int i = 0; i < 4; ++i) p.push_back(0.5);
  }
  q.insert(q.end(), p.begin() + 4, p.end());
  const TabularPair pair = {{TabularModel(2, 200, p)}, TabularModel(2, 200, q)};
  const Told told = told_by_auto(pair, measured(0.5, {0.1}), 200);
  EXPECT_GT(told.by_model.size(), told.blocks * 9 / 10);
}

TEST(Auto, KeepsTheLawWithSeveralDraftModelsAndWithNone) {
  for (const std::uint32_t seed : {1u, 2u}) {
    for (const std::vector<double>& drafts : {std::vector{0.1, 0.1}, {0.1, 0.01}, {0.3, 0.1, 0.2}, {}}) {
      const TabularPair pair = TabularPair::random(2, 4, seed, drafts.size());
      const MethodLaw found = method_law(pair, "auto", measured(0.2, drafts));
      EXPECT_LE(found.tv, 1e-12) << "seed " << seed << ", " << drafts.size() << " draft models";
      EXPECT_LT(found.law.expected_target_calls, 3.9) << drafts.size();
    }
  }
}

TEST(Auto, FindsTheDraftModelThatPaysMost) {
  // The second model is the target and as dear as the third; the others know nothing, the first for less.
  const TabularPair one = TabularPair::random(5, 400, 1);
  const TabularModel nothing(5, 1, std::vector<double>(25, 0.2));
  const TabularPair pair = {{nothing, one.target, nothing}, one.target};
  const Told told = told_by_auto(pair, measured(0.2, {0.05, 0.1, 0.1}), 400);
  EXPECT_GT(told.of_model[1], told.blocks * 2 / 3);
  EXPECT_LE(told.of_model[0] + told.of_model[2], 40u);
  EXPECT_GT(told.of_model[0], 0u);
  EXPECT_GT(told.of_model[2], 0u);
}

TEST(Auto, DraftsOneSequenceWhereAllDraftsWouldBeAlike) {
  const TabularPair pair = TabularPair::random(5, 300, 1).with_equal_draft();
  WarpOptions greedy;
  greedy.temperature = 0.0;
  Decoder decoder = decoder_of("auto", measured(0.02, {0.02}));
  Models models = pair.models("auto", decoder, greedy, 200);
  CounterRandom choices(1);
  ASSERT_TRUE(generate(decoder, models, std::vector<Token>{0}, {.limit = 200}, choices));
  EXPECT_EQ(decoder.shape().drafts, 1u);
  EXPECT_EQ(decoder.shape().length, 8u);
}

TEST(Auto, DraftsFromTheTextWithoutADraftModel) {
  const TabularPair circles = {{}, TabularModel(3, 1, {0, 1, 0, 0, 0, 1, 1, 0, 0})};
  const Told told = told_by_auto(circles, measured(0.1, {}), 120);
  EXPECT_LT(told.blocks, 40u);
  EXPECT_GT(told.by_text.size(), told.blocks / 2);
}

TEST(Auto, RefusesModelsWhoseCostsItDoesNotKnow) {
  const TabularPair pair = TabularPair::random(2, 4, 1, 2);
  Decoder decoder = decoder_of("auto", measured(0.1, {0.1}));
  Models models = pair.models("auto", decoder, WarpOptions::none(), 4);
  CounterRandom choices(1);
  const auto text = generate(decoder, models, std::vector<Token>{0, 1}, {.limit = 4}, choices);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().message, "method auto knows what passes of 1 draft models cost, there are 2");
}

TEST(Auto, NeedsMeasuredCosts) {
  const auto rule = find_method("auto");
  ASSERT_TRUE(rule);
  const auto decoder = make_decoder(**rule, {});
  ASSERT_FALSE(decoder);
  EXPECT_EQ(decoder.error().message, "method auto needs to know what passes cost");
}

}  // namespace
}  // namespace spectr
