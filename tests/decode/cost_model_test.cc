// Cost models of passes: their curves and their hash.
#include "spectr/decode/costs/cost_model.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace spectr {
namespace {

TEST(CostCurve, IsLinearBetweenPointsAndBeyondTheLast) {
  const CostCurve curve({{1, 1.0}, {2, 1.5}, {4, 2.0}});
  EXPECT_EQ(curve.seconds(0.5), 1.0);
  EXPECT_EQ(curve.seconds(1.0), 1.0);
  EXPECT_EQ(curve.seconds(1.5), 1.25);
  EXPECT_EQ(curve.seconds(3.0), 1.75);
  EXPECT_EQ(curve.seconds(8.0), 3.0);
}

TEST(CostCurve, GoesOnAsItRoseSinceHalfOfItsRows) {
  const CostCurve flat_at_its_end({{1, 1.0}, {8, 2.0}, {12, 4.0}, {16, 4.0}});
  EXPECT_EQ(flat_at_its_end.seconds(32.0), 8.0);
}

TEST(CostCurve, GrowsWithTheDepthThatRowsAttendTo) {
  const CostCurve curve({{1, 1.0}, {2, 1.5}}, {.behind = 100, .per_token = 0.01});
  EXPECT_EQ(curve.seconds(1.0, 50.0), 1.0);
  EXPECT_EQ(curve.seconds(1.0, 100.0), 1.0);
  EXPECT_DOUBLE_EQ(curve.seconds(1.0, 150.0), 1.5);
  EXPECT_DOUBLE_EQ(curve.seconds(2.0, 150.0), 2.5);
  EXPECT_DOUBLE_EQ(curve.seconds(3.0, 150.0), 3.5);
  EXPECT_DOUBLE_EQ(curve.shared(2).seconds(1.0, 150.0), 0.5 * curve.seconds(2.0, 150.0));
}

TEST(CostCurve, SharedIsAShareOfAWiderPass) {
  const CostCurve alone({{1, 1.0}, {2, 1.5}, {4, 2.0}, {8, 4.0}});
  const CostCurve shared = alone.shared(4);
  for (const double rows : {1.0, 2.0, 4.0, 8.0, 16.0})
    EXPECT_EQ(shared.seconds(rows), alone.seconds(4 * rows) / 4) << rows;
}

TEST(CostCurve, OfARequestAloneIsTheSame) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 1000; ++round) {
    const double low = std::generate_canonical<double, 53>(random) + 0.1, high = 3 * low;
    const CostCurve alone({{1, low}, {2, high}, {3, high}, {5, 2 * high}, {7, 2 * high}});
    const CostCurve shared = alone.shared(1);
    for (std::size_t i = 0; i < 5; ++i) ASSERT_EQ(shared.points()[i].seconds, alone.points()[i].seconds);
  }
}

TEST(Costs, OfRequestsThatShareTheirPassesAreSharedWhole) {
  const CostCurve curve({{1, 1.0}, {2, 1.5}, {4, 2.0}});
  const Costs shared = Costs{curve, {{curve, 0.5}}, {1e-6}}.shared(2);
  EXPECT_EQ(shared.target.seconds(2.0), 1.0);
  EXPECT_EQ(shared.drafts.front().passes.seconds(2.0), 1.0);
  EXPECT_EQ(shared.drafts.front().alternation, 0.25);
  EXPECT_EQ(shared.select.distribution, 1e-6);  // not shared: every request has its own
  Costs trained{curve, {{curve, 0.5}}, {}};
  trained.drafts.front().first = 0.25;
  const Costs apart = trained.shared(2);
  EXPECT_EQ(apart.drafts.front().first, 0.25) << "passes of trained drafters are not shared";
  EXPECT_EQ(apart.drafts.front().passes.seconds(2.0), 1.5);
}

TEST(Costs, HaveOneHashEach) {
  const CostCurve one({{1, 1.0}, {2, 1.2}}), other({{1, 1.0}, {2, 1.3}});
  const CostCurve dear({{1, 1.0}, {2, 1.2}}, {.behind = 128, .per_token = 1e-6}),
      early({{1, 1.0}, {2, 1.2}}, {.behind = 64, .per_token = 1e-6});
  const std::vector<Costs> different = {{one, {}, {}},
                                        {dear, {}, {}},
                                        {early, {}, {}},
                                        {other, {}, {}},
                                        {one, {{one}}, {}},
                                        {one, {{one, 1e-6}}, {}},
                                        {one, {{one, 0.0, 1e-6}}, {}},
                                        {one, {{one, 0.0, 1e-6, {}, 1e-6}}, {}},
                                        {one, {{one, 0.0, 1e-6, {}, 1e-6, 4}}, {}},
                                        {one, {{other}}, {}},
                                        {other, {{one}}, {}},
                                        {one, {{one}, {other}}, {}},
                                        {one, {{other}, {one}}, {}},
                                        {one, {{one}}, {1e-6}}};
  std::set<std::uint64_t> hashes;
  for (const Costs& costs : different) hashes.insert(costs.hash());
  EXPECT_EQ(hashes.size(), different.size());
  EXPECT_EQ(different.back().hash(), Costs(different.back()).hash());
}

}  // namespace
}  // namespace spectr
