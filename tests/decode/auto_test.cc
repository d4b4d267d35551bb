// Choosing K and L by costs and past acceptance leaves the law alone, and follows the costs.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "spectr/base/counter_random.h"
#include "spectr/decode/acceptance_estimate.h"
#include "spectr/decode/auto_drafter.h"
#include "spectr/decode/generate.h"
#include "tests/support/tabular_pair.h"

namespace spectr {
namespace {

using namespace test;

/// A pass of r rows of the target costs 1 + slope (r − 1), one of the draft a share of it.
std::shared_ptr<const Costs> costs(double slope, double draft) {
  return std::make_shared<Costs>(Costs{
      CostCurve({{1, 1.0}, {2, 1.0 + slope}}), CostCurve({{1, draft}, {2, draft * (1.0 + slope)}}), {}});
}

MethodOptions measured(double slope, double draft) {
  MethodOptions options;
  options.costs = costs(slope, draft);
  return options;
}

TEST(Auto, HasTheTargetsLawWhateverItChooses) {
  for (const std::uint32_t seed : {1u, 2u, 3u, 4u}) {
    const TabularPair pair = TabularPair::random(2, 4, seed);
    for (const double slope : {0.1, 0.3, 0.5}) {
      const MethodLaw found = method_law(pair, "auto", measured(slope, 0.1));
      EXPECT_LE(found.tv, 1e-12) << "seed " << seed << ", slope " << slope;
    }
  }
}

TEST(Auto, KeepsTheLawWithEndTokensAndFilters) {
  WarpOptions warp = WarpOptions::none();
  warp.top_k = 2;
  warp.temperature = 0.7;
  const LawSettings settings{.horizon = 4, .ends = {1}, .warp = warp};
  EXPECT_LE(method_law(TabularPair::random(3, 4, 5), "auto", measured(0.4, 0.1), settings).tv, 1e-12);
}

TEST(Auto, DecodesPlainlyWhereNothingPays) {
  // A draft pass costs as much as a target pass, and every row as much as a pass.
  const MethodLaw found = method_law(TabularPair::random(3, 4, 1), "auto", measured(1.0, 1.0));
  EXPECT_NEAR(found.law.expected_target_calls, 4.0, 1e-12);
}

TEST(Auto, DraftsWhereDraftsAreFree) {
  const MethodLaw found = method_law(TabularPair::random(2, 3, 1).with_equal_draft(), "auto",
                                     measured(0.3, 0.0 + 1e-6), {.horizon = 3});
  EXPECT_LT(found.law.expected_target_calls, 2.0);
}

TEST(Auto, LearnsThatOnlyTheFirstTokenIsHard) {
  // At the first step the draft is sure of token 0, the target is not; from then on they agree.
  const auto table = [](double first) {
    return TabularModel(2, 2, {first, 1 - first, first, 1 - first, 0.5, 0.5, 0.5, 0.5});
  };
  const TabularPair pair = {{table(1.0)}, table(0.5)};
  Decoder decoder = decoder_of("auto", measured(0.02, 0.02));
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
  EXPECT_NEAR(decoder.expectation()->tokens, 1.0 + 0.5 * length, 0.1 * length);
}

/// A text by `auto`: which blocks drafted, and how.
struct Told {
  std::vector<std::size_t> by_model, by_text;
  std::size_t blocks = 0;
  std::size_t read_by_draft = 0;  // tokens
};

Told told_by_auto(const TabularPair& pair, const MethodOptions& options, std::size_t tokens,
                  std::vector<Token> prompt = {0}) {
  Decoder decoder = decoder_of("auto", options);
  Models models = pair.models("auto", decoder, WarpOptions::none(), tokens);
  CounterRandom choices(1);
  Told told;
  const auto listener = [&](const Block& block) -> std::optional<std::size_t> {
    const bool from_text = decoder.expectation()->from_text;
    if (block.drafted > 0) (from_text ? told.by_text : told.by_model).push_back(told.blocks);
    ++told.blocks;
    return std::nullopt;
  };
  EXPECT_TRUE(generate(decoder, models, prompt, {.limit = tokens}, choices, listener));
  told.read_by_draft = models.drafts.front()->length();
  return told;
}

TEST(Auto, KeepsTheLawWhereItDraftsFromTheText) {
  // Nodes cost little, the draft as much as the target.
  for (const std::uint32_t seed : {1u, 2u}) {
    const TabularPair pair = TabularPair::random(2, 6, seed);
    const MethodLaw found = method_law(pair, "auto", measured(0.02, 1.0), {.horizon = 6});
    EXPECT_LE(found.tv, 1e-12) << "seed " << seed;
    EXPECT_LT(found.law.expected_target_calls, 5.0) << "seed " << seed;
  }
}

TEST(Auto, DraftsFromTheTextWhereThatRepeatsItself) {
  // The target goes round in circles, the draft knows nothing and is dear.
  const TabularModel circles(3, 1, {0, 1, 0, 0, 0, 1, 1, 0, 0});
  const TabularPair pair = {{TabularModel(3, 1, std::vector<double>(9, 1.0 / 3))}, circles};
  const Told told = told_by_auto(pair, measured(0.1, 0.9), 120);
  EXPECT_LT(told.blocks, 40u);
  EXPECT_GT(told.by_text.size(), told.blocks / 2);
}

TEST(Auto, LeavesTheDraftAloneWhereEvenPerfectDraftsWouldNotPay) {
  // Every row costs nine tenths of a pass.
  const Told told = told_by_auto(TabularPair::random(5, 300, 1), measured(0.9, 0.3), 200, {0, 1, 2, 3});
  EXPECT_EQ(told.by_model, std::vector<std::size_t>());
  EXPECT_EQ(told.read_by_draft, 0u) << "the prompt neither";
}

TEST(Auto, DoesNotReadALongPromptForAFewTokens) {
  const TabularPair pair = TabularPair::random(5, 1, 1).with_equal_draft();
  std::mt19937 random(5);
  std::vector<Token> prompt(400);
  for (Token& token : prompt) token = static_cast<Token>(random() % 5);
  EXPECT_EQ(told_by_auto(pair, measured(0.2, 0.1), 8, prompt).read_by_draft, 0u);
  EXPECT_GT(told_by_auto(pair, measured(0.2, 0.1), 300, prompt).read_by_draft, 400u);
}

TEST(Auto, LooksAgainAtGrowingIntervalsWhereDraftsDoNotPay) {
  // Half of the drafts are accepted; two of three would have to be. The text does not repeat itself.
  const std::vector<double> sure = {1.0, 0.0, 0.0, 0.0, 0.0, 0.0}, open = {0.5, 0.1, 0.1, 0.1, 0.1, 0.1};
  const Told told = told_by_auto(TabularPair::constant(sure, open), measured(0.6, 0.05), 1200);
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
  const Told told = told_by_auto(pair, measured(0.5, 0.1), 200);
  EXPECT_GT(told.by_model.size(), told.blocks * 9 / 10);
}

TEST(Auto, NeedsMeasuredCosts) {
  const auto rule = find_method("auto");
  ASSERT_TRUE(rule);
  const auto decoder = make_decoder(**rule, {});
  ASSERT_FALSE(decoder);
  EXPECT_EQ(decoder.error().message, "method auto needs to know what passes cost");
}

TEST(AcceptanceEstimate, MovesTowardsWhatIsSeen) {
  const auto p = Distribution::from_weights({0.9, 0.1}), q = Distribution::from_weights({0.1, 0.9});
  AcceptanceEstimate estimate;
  for (int i = 0; i < 1000; ++i) estimate.see_first(p, q);
  EXPECT_NEAR(estimate.acceptances(1)[0], 0.2, 1e-9);
  EXPECT_GT(estimate.acceptances(2)[0], estimate.acceptances(1)[0]);
  const double two = estimate.acceptances(2)[0], four = estimate.acceptances(4)[0];
  EXPECT_NEAR(estimate.acceptances(3)[0], two + 0.584962500721156 * (four - two), 1e-12);
  EXPECT_NEAR(estimate.tokens(1)[3], 1 + 0.2 + 0.04 + 0.008, 1e-8);
}

TEST(AcceptanceEstimate, TellsPositionsApart) {
  const auto p = Distribution::from_weights({0.9, 0.1}), q = Distribution::from_weights({0.1, 0.9});
  AcceptanceEstimate estimate;
  for (int i = 0; i < 1000; ++i) {
    estimate.see_first(p, q);
    estimate.see_further(1, 1, 1, p, p);
    estimate.see_further(2, 1, 1, p, q);
  }
  EXPECT_NEAR(estimate.acceptances(1)[0], 0.2, 1e-9);
  EXPECT_GT(estimate.acceptances(1)[1], 0.98);
  EXPECT_NEAR(estimate.acceptances(1)[2], 0.2, 0.02);
  EXPECT_EQ(estimate.acceptances(1)[3], estimate.acceptances(1)[2]) << "unseen: like the one before";
  AcceptanceEstimate first_only;
  for (int i = 0; i < 1000; ++i) first_only.see_first(p, q);
  EXPECT_EQ(estimate.tokens(2)[4], first_only.tokens(2)[4]) << "several sequences are another matter";
}

TEST(AcceptanceEstimate, ForgetsHowPositionsWereLongAgo) {
  const auto p = Distribution::from_weights({0.9, 0.1}), q = Distribution::from_weights({0.1, 0.9});
  AcceptanceEstimate estimate;
  for (int i = 0; i < 1000; ++i) {
    estimate.see_first(p, q);
    estimate.see_further(1, 1, 1, p, p);
  }
  for (int i = 0; i < 300; ++i) estimate.see_further(1, 1, 1, p, q);
  EXPECT_LT(estimate.acceptances(1)[1], 0.25);
}

TEST(AcceptanceEstimate, CountsEveryNodeOfAChain) {
  AcceptanceEstimate estimate;
  for (int i = 0; i < 100; ++i) estimate.see_merging(4, 16, 8);
  EXPECT_EQ(estimate.nodes(1, 5), 5.0);
  EXPECT_NEAR(estimate.nodes(4, 4), 8.0, 0.01);
  EXPECT_GT(estimate.nodes(2, 4), 6.0) << "of other numbers of sequences nothing was learnt";
}

TEST(AcceptanceEstimate, LooksAtEveryEarlyBlockAndThenAtEveryFourth) {
  AcceptanceEstimate estimate;
  int early = 0, later = 0;
  for (int block = 0; block < 8; ++block) early += estimate.wants_laws() ? 1 : 0;
  for (int block = 0; block < 400; ++block) later += estimate.wants_laws() ? 1 : 0;
  EXPECT_EQ(early, 8);
  EXPECT_EQ(later, AcceptanceEstimate::looks_per_block * 400);
}

TEST(AcceptanceEstimate, KnowsWhetherLawsAreShort) {
  AcceptanceEstimate estimate;
  EXPECT_TRUE(estimate.dense());  // until something has been seen
  const Distribution p = Distribution::point(0, 2), q = Distribution::point(1, 2);
  estimate.see_first(p, q);
  EXPECT_FALSE(estimate.dense());
}

TEST(CostCurve, IsLinearBetweenPointsAndBeyondTheLast) {
  const CostCurve curve({{1, 1.0}, {2, 1.5}, {4, 2.0}});
  EXPECT_EQ(curve.seconds(0.5), 1.0);
  EXPECT_EQ(curve.seconds(1.0), 1.0);
  EXPECT_EQ(curve.seconds(1.5), 1.25);
  EXPECT_EQ(curve.seconds(3.0), 1.75);
  EXPECT_EQ(curve.seconds(8.0), 3.0);
}

TEST(CostCurve, OfEveryModelIsMeasuredAtTheWidthsThatWereAsked) {
  const TabularPair pair = TabularPair::random(8, 4, 1);
  const std::size_t widths[] = {1, 2, 5};
  const LanguageModel* const models[] = {&pair.target, &pair.drafts.front()};
  const auto curves = CostCurve::measure(models, widths, 3);
  ASSERT_TRUE(curves);
  ASSERT_EQ(curves->size(), 2u);
  for (const CostCurve& curve : *curves) {
    ASSERT_EQ(curve.points().size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(curve.points()[i].rows, widths[i]);
      EXPECT_GT(curve.points()[i].seconds, 0.0);
    }
  }
}

/// Its passes take so long: by the nodes of their tree, and the passes with as many just before.
class SleepingModel : public LanguageModel, public Session {
 public:
  using Duration = std::chrono::microseconds (*)(NodeId nodes, int passes);
  explicit SleepingModel(Duration duration) : duration_(duration) {}

  std::size_t vocabulary() const override { return 4; }
  Result<std::unique_ptr<Session>> start(std::size_t, std::size_t) const override {
    return std::make_unique<SleepingModel>(duration_);
  }

  Result<void> score(std::span<const Token>, const TokenTree& tree) override {
    if (tree.size() != last_) passes_ = 0;
    last_ = tree.size();
    std::this_thread::sleep_for(duration_(last_, passes_++));
    return {};
  }
  Logits logits(NodeId) const override { return std::span<const float>(); }
  void keep(std::span<const NodeId>) override {}
  void rewind(std::size_t) override {}
  std::size_t length() const override { return 0; }
  std::size_t context() const override { return 16; }

 private:
  Duration duration_;
  NodeId last_ = 0;
  int passes_ = 0;  // since trees have this size
};

TEST(CostCurve, NeverFalls) {
  const SleepingModel model(
      [](NodeId nodes, int) { return std::chrono::microseconds(nodes == 1 ? 6000 : 3000); });
  const LanguageModel* const models[] = {&model};
  const std::size_t widths[] = {1, 2, 4};
  const auto curves = CostCurve::measure(models, widths, 3);
  ASSERT_TRUE(curves);
  const auto points = curves->front().points();
  EXPECT_EQ(points[0].seconds, points[1].seconds);
  EXPECT_EQ(points[1].seconds, points[2].seconds);
}

TEST(CostCurve, CountsPassesThatFollowTheirLike) {
  const SleepingModel model(
      [](NodeId, int passes) { return std::chrono::microseconds(passes < 2 ? 1000 : 100); });
  const LanguageModel* const models[] = {&model};
  const std::size_t widths[] = {1, 4};
  const auto curves = CostCurve::measure(models, widths, 3);
  ASSERT_TRUE(curves);
  for (const CostCurve::Point& point : curves->front().points()) {
    EXPECT_GE(point.seconds, 0.0001);
    EXPECT_LT(point.seconds, 0.0010);  // the median of a hundred passes or more
  }
}

TEST(Costs, HaveOneHashEach) {
  const std::set<std::uint64_t> hashes = {costs(0.1, 0.1)->hash(), costs(0.2, 0.1)->hash(),
                                          costs(0.1, 0.2)->hash()};
  EXPECT_EQ(hashes.size(), 3u);
  EXPECT_EQ(costs(0.1, 0.1)->hash(), costs(0.1, 0.1)->hash());
}

}  // namespace
}  // namespace spectr
