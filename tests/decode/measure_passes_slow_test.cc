// Measurements of the costs of passes.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "spectr/decode/costs/measure_costs.h"
#include "tests/support/tabular_pair.h"

namespace spectr {
namespace {

using namespace test;

TEST(MeasurePasses, MeasuresEveryModelAtTheWidthsThatWereAsked) {
  const TabularPair pair = TabularPair::random(8, 4, 1);
  const std::size_t widths[] = {1, 2, 5};
  const LanguageModel* const drafts[] = {&pair.drafts.front()};
  const auto measured = measure_passes(pair.target, drafts, widths, 3);
  ASSERT_TRUE(measured);
  const Costs& costs = measured->costs;
  ASSERT_EQ(costs.drafts.size(), 1u);
  for (const CostCurve& curve : {costs.target, costs.drafts.front().passes}) {
    ASSERT_EQ(curve.points().size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(curve.points()[i].rows, widths[i]);
      EXPECT_GT(curve.points()[i].seconds, 0.0);
    }
  }
}

/// A model of hardware caches: they hold the data of the last passes.
struct Caches {
  const void* session = nullptr;
  NodeId nodes = 0;
  int passes = 0;  // number of consecutive passes of the same kind
};

/// A model whose passes take a time that depends on the tree's nodes and on preceding equal passes.
class SleepingModel : public LanguageModel, public Session {
 public:
  using Duration = std::chrono::microseconds (*)(NodeId nodes, int passes);
  SleepingModel(Duration duration, Caches& caches) : duration_(duration), caches_(caches) {}

  std::size_t vocabulary() const override { return 4; }
  Result<std::unique_ptr<Session>> start(std::size_t, std::size_t) const override {
    return std::make_unique<SleepingModel>(duration_, caches_);
  }

  Result<void> score(std::span<const Token>, const TokenTree& tree) override {
    if (caches_.session != this || caches_.nodes != tree.size()) caches_ = {this, tree.size(), 0};
    std::this_thread::sleep_for(duration_(tree.size(), caches_.passes++));
    return {};
  }
  Logits logits(NodeId) const override { return std::span<const float>(); }
  void keep(std::span<const NodeId>) override {}
  void rewind(std::size_t) override {}
  std::string_view name() const override { return "a sleeper"; }
  std::size_t length() const override { return 0; }
  std::size_t context() const override { return 16; }

 private:
  Duration duration_;
  Caches& caches_;
};

/// Measures a target and an identical draft model.
MeasuredCosts measured_of(SleepingModel::Duration duration) {
  Caches caches;
  const SleepingModel model(duration, caches);
  const LanguageModel* const drafts[] = {&model};
  const std::size_t widths[] = {1, 2, 4};
  return measure_passes(model, drafts, widths, 3).value();
}
Costs measured(SleepingModel::Duration duration) {
  return measured_of(duration).costs;
}

TEST(MeasurePasses, GivesCostsThatNeverFall) {
  const Costs costs =
      measured([](NodeId nodes, int) { return std::chrono::microseconds(nodes == 1 ? 6000 : 3000); });
  const auto points = costs.target.points();
  EXPECT_LE(points[0].seconds, points[1].seconds);  // equal unless another program took a core in between
  EXPECT_LE(points[1].seconds, points[2].seconds);
}

TEST(MeasurePasses, GivesNoPassMoreThanNarrowerOnesOneAfterTheOther) {
  const MeasuredCosts odd =
      measured_of([](NodeId nodes, int) { return std::chrono::microseconds(nodes == 4 ? 30'000 : 3000); });
  const auto points = odd.costs.target.points();
  EXPECT_LE(points[2].seconds, 2 * points[1].seconds);
  EXPECT_TRUE(odd.disturbed());
}

TEST(MeasurePasses, CountsPassesThatFollowTheirLike) {
  const Costs costs =
      measured([](NodeId, int passes) { return std::chrono::microseconds(passes < 2 ? 1000 : 100); });
  for (const CostCurve::Point& point : costs.target.points()) {
    EXPECT_GE(point.seconds, 0.0001);
    EXPECT_LT(point.seconds, 0.0010);  // the lower quartile of at least a hundred passes
  }
}

TEST(MeasurePasses, DoesNotCountPassesThatWereKeptFromRunning) {
  // Every third pass, including the first, takes far longer than the warm-up effects.
  const Costs costs =
      measured([](NodeId, int passes) { return std::chrono::microseconds(passes % 3 == 0 ? 5000 : 300); });
  for (const CostCurve::Point& point : costs.target.points()) {
    EXPECT_GE(point.seconds, 0.0003);
    EXPECT_LT(point.seconds, 0.0050);
  }
}

TEST(MeasurePasses, FindsWhatTakesLongerWhereModelsAlternate) {
  const Costs costs =
      measured([](NodeId, int passes) { return std::chrono::microseconds(passes < 2 ? 1000 : 100); });
  // 0.9 ms each. Seven of seven sleeps being 0.45 ms too long is considered impossible.
  EXPECT_GE(costs.drafts.front().alternation, 0.0009);
}

TEST(MeasurePasses, SaysWhereTheMachineWasBusy) {
  // Every other pass takes three times its undisturbed time.
  const MeasuredCosts busy = measured_of(
      [](NodeId, int passes) { return std::chrono::microseconds(passes % 2 == 0 ? 3000 : 9000); });
  EXPECT_GT(busy.spread, 2.0);
  EXPECT_TRUE(busy.disturbed());
  EXPECT_FALSE((MeasuredCosts{busy.costs, 1.0}.disturbed()));
}

TEST(MeasurePasses, FindsNoAlternationInLongPasses) {
  const Costs costs =
      measured([](NodeId, int passes) { return std::chrono::microseconds(passes < 2 ? 4000 : 3000); });
  EXPECT_EQ(costs.drafts.front().alternation, 0.0);
}

}  // namespace
}  // namespace spectr
