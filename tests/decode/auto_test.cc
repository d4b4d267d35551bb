// Drafts of `auto` depend on costs, the prompt, and past acceptance.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "spectr/base/counter_random.h"
#include "spectr/decode/auto/auto_drafter.h"
#include "spectr/decode/generate.h"
#include "tests/support/tabular_pair.h"

namespace spectr {
namespace {

using namespace test;

/// Statistics of a completion by `auto`: which blocks drafted, and with which drafter.
struct Course {
  std::vector<std::size_t> looks;  // blocks before which a draft model was looked at
  std::vector<std::size_t> by_model, by_ngrams;
  std::vector<std::size_t> of_model;  // number of blocks, by model
  std::size_t blocks = 0;
  std::size_t read_by_draft = 0;  // tokens of the first draft model
  double seconds = 0.0;           // by the cost model, if all drafts of a block have equal length
};

Course course_of_auto(const TabularPair& pair, const MethodOptions& options, std::size_t tokens,
                      std::vector<Token> prompt = {0}) {
  Decoder decoder = decoder_of("auto", options);
  OwnedModels models = pair.models("auto", decoder, WarpOptions::none(), tokens);
  CounterRandom choices(1);
  Course course;
  course.of_model.resize(models.drafts.size());
  const auto listener = [&](const Block& block) -> std::optional<std::size_t> {
    const std::optional<std::size_t> model = decoder.drafter().expectation()->model;
    if (decoder.drafter().expectation()->probe) course.looks.push_back(course.blocks);
    course.seconds += seconds_by(*options.costs, model, block.depth, block.depth);
    if (block.drafted > 0) (model ? course.by_model : course.by_ngrams).push_back(course.blocks);
    if (block.drafted > 0 && model) ++course.of_model[*model];
    ++course.blocks;
    return std::nullopt;
  };
  EXPECT_TRUE(generate(decoder, models, prompt, {.limit = tokens}, choices, listener));
  if (!models.drafts.empty()) course.read_by_draft = models.drafts.front()->length();
  return course;
}

TEST(Auto, DraftsFromTheTextWhereThatRepeatsItself) {
  // The target repeats a cycle; the draft model is uninformed and expensive.
  const TabularModel circles(3, 1, {0, 1, 0, 0, 0, 1, 1, 0, 0});
  const TabularPair pair = {{TabularModel(3, 1, std::vector<double>(9, 1.0 / 3))}, circles};
  const Course course = course_of_auto(pair, measured(0.1, {0.9}), 120);
  EXPECT_LT(course.blocks, 40u);
  EXPECT_GT(course.by_ngrams.size(), course.blocks / 2);
}

TEST(Auto, DropsADraftThatIsNeverRightAndLooksAtItNowAndThen) {
  // The target never accepts the draft's proposals, but a perfect draft would pay off.
  const TabularPair pair = TabularPair::constant(std::vector{1.0, 0.0}, std::vector{0.0, 1.0});
  const Course course = course_of_auto(pair, measured(0.4, {0.3}), 400);
  EXPECT_LE(course.by_model.size(), 2U);
  EXPECT_GE(course.looks.size(), 1U);
  EXPECT_LE(course.looks.size(), 4U);
  EXPECT_EQ(course_of_auto(pair, measured(0.4, {0.3}), 12).looks.size(), 0U)
      << "so few tokens are not worth a look";
  // A draft equal to the target pays off.
  const TabularPair equal = TabularPair::random(5, 300, 1).with_equal_draft();
  const Course all = course_of_auto(equal, measured(0.1, {0.1}), 200);
  EXPECT_EQ(all.looks.size(), 0U);
  EXPECT_GE(all.by_model.size() + 1, all.blocks) << "the last token needs no drafts";
}

TEST(Auto, KnowsFromThePromptWhatDraftsAreWorth) {
  const TabularPair useless = TabularPair::constant(std::vector{1.0, 0.0}, std::vector{0.0, 1.0});
  const MethodOptions options = measured(0.1, {0.1});
  const std::vector<Token> prompt = {0, 0, 1, 0, 1, 1};
  EXPECT_GE(course_of_auto(useless, options, 30).by_model.size(), 1U) << "without one it has to try";
  const Course course = course_of_auto(useless, options, 30, prompt);
  EXPECT_EQ(course.by_model, std::vector<std::size_t>());
  EXPECT_EQ(course.read_by_draft, prompt.size() - 1) << "it has read the prompt";
  const TabularPair equal = TabularPair::random(5, 60, 1).with_equal_draft();
  const Course all = course_of_auto(equal, options, 30, prompt);
  EXPECT_EQ(all.by_model.size(), all.blocks);
}

TEST(Auto, TakesTheSameCourseWhateverASessionKnewBefore) {
  const TabularPair pair = TabularPair::random(5, 80, 3);
  const MethodOptions options = measured(0.1, {0.1});
  const std::vector<Token> prompt = {0, 3, 1, 4, 2, 2};
  std::vector<std::vector<std::size_t>> courses;
  for (const std::size_t known : {0U, 2U, 6U}) {
    Decoder decoder = decoder_of("auto", options);
    OwnedModels models = pair.models("auto", decoder, WarpOptions::none(), 60);
    const auto read = std::span(prompt).first(known);
    if (known > 0) {
      ASSERT_TRUE(models.target.score(read, TokenTree(read.back())));
    }
    CounterRandom choices(1);
    std::vector<std::size_t>& course = courses.emplace_back();
    const auto listener = [&](const Block& block) -> std::optional<std::size_t> {
      course.push_back(block.drafted);
      return std::nullopt;
    };
    ASSERT_TRUE(generate(decoder, models, prompt, {.limit = 50}, choices, listener));
  }
  EXPECT_GT(*std::ranges::max_element(courses[0]), 0U);
  EXPECT_EQ(courses[1], courses[0]);
  EXPECT_EQ(courses[2], courses[0]);
}

TEST(Auto, LeavesTheDraftAloneWhereEvenPerfectDraftsWouldNotPay) {
  // Each row costs 0.9 passes.
  const Course course =
      course_of_auto(TabularPair::random(5, 300, 1), measured(0.9, {0.3}), 200, {0, 1, 2, 3});
  EXPECT_EQ(course.by_model, std::vector<std::size_t>());
  EXPECT_EQ(course.read_by_draft, 0u) << "the prompt neither";
}

/// Returns a target that is certain of every token, and a draft that predicts it at the positions for which
/// `knows` returns true and is wrong elsewhere.
template <class Knows>
TabularPair knowing(Knows knows) {
  constexpr std::size_t V = 5, steps = 320;
  std::mt19937 random(1);
  std::vector<double> p(V * V * steps, 0.0), q = p;
  for (std::size_t step = 0; step < steps; ++step) {
    const std::size_t token = random() % V, guess = knows(step) ? token : (token + 1) % V;
    for (std::size_t last = 0; last < V; ++last) {
      const std::size_t row = (step * V + last) * V;
      q[row + token] = p[row + guess] = 1.0;
    }
  }
  return {{TabularModel(V, steps, p)}, TabularModel(V, steps, q)};
}

TEST(Auto, TakesAtMostThreePercentOrThreeTokensLongerThanPlainDecoding) {
  // Drafts that are never right; right for the first 20 tokens; right for every other token.
  const TabularPair pairs[] = {knowing([](std::size_t) { return false; }),
                               knowing([](std::size_t step) { return step < 20; }),
                               knowing([](std::size_t step) { return step % 2 == 0; })};
  double longest = 0.0;
  for (const TabularPair& pair : pairs) {
    for (const double slope : {0.05, 0.2, 0.5}) {
      for (const double draft : {0.02, 0.1, 0.3}) {
        for (const std::size_t tokens : {2u, 8u, 16u, 40u, 100u, 300u}) {
          const Course course = course_of_auto(pair, measured(slope, {draft}), tokens);
          const auto plainly = static_cast<double>(tokens);
          EXPECT_LE(course.seconds, std::max(1.03 * plainly, plainly + 3.0) + 1e-9)
              << tokens << " tokens, slope " << slope << ", draft " << draft;
          longest = std::max(longest, course.seconds / plainly);
        }
      }
    }
  }
  EXPECT_GT(longest, 1.01) << "finding out has its price";
}

TEST(Auto, CountsWhatAlternationTakes) {
  const TabularPair pair = TabularPair::random(5, 300, 1).with_equal_draft();
  MethodOptions options = measured(0.1, {0.1});
  EXPECT_GT(course_of_auto(pair, options, 200).by_model.size(), 10u);
  Costs costs = *options.costs;
  costs.drafts.front().alternation = 10.0;  // more than the plain passes that the longest block saves
  options.costs = std::make_shared<const Costs>(std::move(costs));
  EXPECT_EQ(course_of_auto(pair, options, 200).by_model.size(), 0u);
}

TEST(Auto, DoesNotReadALongPromptForAFewTokens) {
  const TabularPair pair = TabularPair::random(5, 1, 1).with_equal_draft();
  std::mt19937 random(5);
  std::vector<Token> prompt(400);
  for (Token& token : prompt) token = static_cast<Token>(random() % 5);
  EXPECT_EQ(course_of_auto(pair, measured(0.2, {0.1}), 8, prompt).read_by_draft, 0u);
  EXPECT_GT(course_of_auto(pair, measured(0.2, {0.1}), 300, prompt).read_by_draft, 400u);
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
  EXPECT_GT(course_of_auto(pair, options, 8, prompt).read_by_draft, 400u);
}

TEST(Auto, LooksAtGrowingIntervalsAtDraftsThatDoNotPay) {
  // Half of the drafts are accepted; break-even is two thirds. The sequence does not repeat itself.
  const std::vector<double> sure = {1.0, 0.0, 0.0, 0.0, 0.0, 0.0}, open = {0.5, 0.1, 0.1, 0.1, 0.1, 0.1};
  const Course course = course_of_auto(TabularPair::constant(sure, open), measured(0.6, {0.05}), 2000);
  ASSERT_GE(course.looks.size(), 3U);
  EXPECT_LE(course.looks.size(), 6U);
  for (std::size_t i = 1; i < course.looks.size(); ++i) {
    const auto drafted = std::ranges::lower_bound(course.by_model, course.looks[i - 1]);
    if (drafted != course.by_model.end() && *drafted <= course.looks[i]) continue;  // between the looks
    EXPECT_GE(course.looks[i], AutoParams().look_growth * course.looks[i - 1]);
  }
  EXPECT_LE(course.by_model.size(), 8U);
  EXPECT_LE(course.by_ngrams.size(), 4U);
}

TEST(Auto, IsNotDiscouragedByOneBadContext) {
  // The two models disagree about the first token only.
  std::vector<double> p = {1, 0, 1, 0}, q = {0, 1, 0, 1};
  for (int step = 1; step < 200; ++step) {
    for (int i = 0; i < 4; ++i) p.push_back(0.5);
  }
  q.insert(q.end(), p.begin() + 4, p.end());
  const TabularPair pair = {{TabularModel(2, 200, p)}, TabularModel(2, 200, q)};
  const Course course = course_of_auto(pair, measured(0.5, {0.1}), 200);
  EXPECT_GT(course.by_model.size(), course.blocks * 2 / 3) << "one look, after eight blocks";
}

TEST(Auto, FindsTheDraftModelThatPaysMost) {
  // The second model equals the target and costs as much as the third; the others are uninformed.
  const TabularPair one = TabularPair::random(5, 400, 1);
  const TabularModel nothing(5, 1, std::vector<double>(25, 0.2));
  const TabularPair pair = {{nothing, one.target, nothing}, one.target};
  const Course course = course_of_auto(pair, measured(0.2, {0.05, 0.1, 0.1}), 400);
  EXPECT_GT(course.of_model[1], course.blocks * 2 / 3);
  EXPECT_LE(course.of_model[0] + course.of_model[2], 40u);
  EXPECT_GT(course.of_model[0], 0u) << "perfect drafts of it would cost less";
  EXPECT_EQ(course.of_model[2], 0u) << "they would not";
}

TEST(Auto, DraftsOneSequenceWhereAllDraftsWouldBeAlike) {
  const TabularPair pair = TabularPair::random(5, 300, 1).with_equal_draft();
  WarpOptions greedy;
  greedy.temperature = 0.0;
  Decoder decoder = decoder_of("auto", measured(0.02, {0.02}));
  OwnedModels models = pair.models("auto", decoder, greedy, 200);
  CounterRandom choices(1);
  ASSERT_TRUE(generate(decoder, models, std::vector<Token>{0}, {.limit = 200}, choices));
  EXPECT_EQ(decoder.shape().drafts, 1u);
  EXPECT_EQ(decoder.shape().length, AutoParams::max_length);
}

TEST(Auto, DraftsManySequencesWhereOnePassDraftsABlock) {
  // Rows of the target cost little, and each draft is accepted with a probability of about 1/8.
  std::vector<double> p(64, 1.0 / 64), q(64, 0.0);
  std::fill_n(q.begin(), 8, 1.0 / 8);
  const TabularPair pair = TabularPair::constant(p, q);
  MethodOptions options = measured(0.001, {0.01});
  const auto largest = [&](std::optional<std::size_t> block) {
    Costs costs = *options.costs;
    costs.drafts.front().first = 0.02;
    costs.drafts.front().block = block;
    options.costs = std::make_shared<const Costs>(std::move(costs));
    Decoder decoder = decoder_of("auto", options);
    OwnedModels models = pair.models("auto", decoder, WarpOptions::none(), 200);
    CounterRandom choices(1);
    EXPECT_TRUE(generate(decoder, models, std::vector<Token>{0, 1, 2}, {.limit = 200}, choices));
    return decoder.shape();
  };
  EXPECT_EQ(largest(2).drafts, AutoParams::max_block_drafts);
  EXPECT_LE(largest(2).length, 2U);
  EXPECT_EQ(largest(std::nullopt).drafts, AutoParams::max_drafts);
}

TEST(Auto, DraftsFromTheTextWithoutADraftModel) {
  const TabularPair circles = {{}, TabularModel(3, 1, {0, 1, 0, 0, 0, 1, 1, 0, 0})};
  const Course course = course_of_auto(circles, measured(0.1, {}), 120);
  EXPECT_LT(course.blocks, 40u);
  EXPECT_GT(course.by_ngrams.size(), course.blocks / 2);
}

TEST(Auto, RefusesModelsWhoseCostsItDoesNotKnow) {
  const TabularPair pair = TabularPair::random(2, 4, 1, 2);
  Decoder decoder = decoder_of("auto", measured(0.1, {0.1}));
  OwnedModels models = pair.models("auto", decoder, WarpOptions::none(), 4);
  CounterRandom choices(1);
  const auto generation = generate(decoder, models, std::vector<Token>{0, 1}, {.limit = 4}, choices);
  ASSERT_FALSE(generation);
  EXPECT_EQ(generation.error().message, "method auto knows what passes of 1 draft models cost, there are 2");
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
