// What passes cost: measured curves, and their hash.
#include "spectr/decode/cost_curve.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "tests/support/tabular_pair.h"

namespace spectr {
namespace {

using namespace test;

TEST(CostCurve, IsLinearBetweenPointsAndBeyondTheLast) {
  const CostCurve curve({{1, 1.0}, {2, 1.5}, {4, 2.0}});
  EXPECT_EQ(curve.seconds(0.5), 1.0);
  EXPECT_EQ(curve.seconds(1.0), 1.0);
  EXPECT_EQ(curve.seconds(1.5), 1.25);
  EXPECT_EQ(curve.seconds(3.0), 1.75);
  EXPECT_EQ(curve.seconds(8.0), 3.0);
}

TEST(CostCurve, SharedIsAShareOfAWiderPass) {
  const CostCurve alone({{1, 1.0}, {2, 1.5}, {4, 2.0}, {8, 4.0}});
  const CostCurve shared = alone.shared(4);
  for (const double rows : {1.0, 2.0, 4.0, 8.0, 16.0})
    EXPECT_EQ(shared.seconds(rows), alone.seconds(4 * rows) / 4) << rows;
}

TEST(CostCurve, OfATextAloneIsTheSame) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 1000; ++round) {
    const double low = std::generate_canonical<double, 53>(random) + 0.1, high = 3 * low;
    const CostCurve alone({{1, low}, {2, high}, {3, high}, {5, 2 * high}, {7, 2 * high}});
    const CostCurve shared = alone.shared(1);
    for (std::size_t i = 0; i < 5; ++i) ASSERT_EQ(shared.points()[i].seconds, alone.points()[i].seconds);
  }
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
  const CostCurve one({{1, 1.0}, {2, 1.2}}), other({{1, 1.0}, {2, 1.3}});
  const std::vector<Costs> different = {{one, {}, {}},           {other, {}, {}},     {one, {one}, {}},
                                        {one, {other}, {}},      {other, {one}, {}},  {one, {one, other}, {}},
                                        {one, {other, one}, {}}, {one, {one}, {1e-6}}};
  std::set<std::uint64_t> hashes;
  for (const Costs& costs : different) hashes.insert(costs.hash());
  EXPECT_EQ(hashes.size(), different.size());
  EXPECT_EQ(different.back().hash(), Costs(different.back()).hash());
}

}  // namespace
}  // namespace spectr
