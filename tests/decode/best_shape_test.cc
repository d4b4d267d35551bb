// K and L where nobody gives them.
#include "spectr/decode/auto/best_shape.h"

#include <gtest/gtest.h>

#include <memory>
#include <string_view>

namespace spectr {
namespace {

/// A target pass of n rows takes 1 + slope (n − 1) seconds, a draft pass so many in one row as in eight.
std::shared_ptr<Costs> costs(double slope, double draft, double acceptance) {
  auto costs = std::make_shared<Costs>(
      Costs{CostCurve({{1, 1.0}, {32, 1.0 + 31.0 * slope}}), {{CostCurve({{1, draft}, {32, draft}})}}, {}});
  LearnedAcceptance learned;
  learned.confidences.front() = 1.0;
  for (auto& accepted : learned.accepted) {
    for (std::size_t i = 0; i < accepted.size(); ++i)
      accepted[i] = 1.0 - (1.0 - acceptance) / static_cast<double>(i + 1);
  }
  costs->drafts.front().learned.fill(learned);
  return costs;
}

MethodOptions chosen(std::string_view method, const std::shared_ptr<Costs>& by,
                     const MethodRequest& request = {}, const WarpOptions& warp = {}) {
  return settings_by_costs(**find_method(method), request, by, Warp::make(warp).value(), 1000);
}

TEST(BestShape, FollowsWhatDraftsCostAndBring) {
  EXPECT_EQ(chosen("speculative", costs(0.01, 0.02, 0.95)).length, AutoParams::max_length);
  EXPECT_EQ(chosen("speculative", costs(0.01, 0.9, 0.95)).length, 1U) << "dear drafts";
  EXPECT_LE(chosen("speculative", costs(0.01, 0.2, 0.3)).length, 2U) << "drafts that are rarely accepted";
  EXPECT_EQ(chosen("spectr", costs(0.5, 0.02, 0.6)).drafts, 1U) << "every row of the target is dear";
  EXPECT_GT(chosen("spectr", costs(0.001, 0.2, 0.5)).drafts, 2U) << "rows are nearly free";
}

TEST(BestShape, LeavesWhatIsGiven) {
  const auto by = costs(0.001, 0.2, 0.5);
  MethodRequest request;
  request.length = 5;
  EXPECT_EQ(chosen("spectr", by, request).length, 5U);
  request.drafts = 3;
  EXPECT_EQ(chosen("spectr", by, request).drafts, 3U);
  EXPECT_FALSE(leaves_shape_open(**find_method("spectr"), request));
  request = {};
  request.drafts = 12;
  EXPECT_EQ(chosen("spectr", by, request).drafts, 12U) << "of more than are estimated, too";
}

TEST(BestShape, OfOneTokenAllSequencesAreAlike) {
  WarpOptions greedy;
  greedy.temperature = 0;
  EXPECT_EQ(chosen("spectr", costs(0.001, 0.2, 0.5), {}, greedy).drafts, 1U);
}

TEST(BestShape, IsOfMethodsThatDraftFromOneModel) {
  const auto open = [](std::string_view method) { return leaves_shape_open(**find_method(method), {}); };
  for (const std::string_view method : {"speculative", "spectr", "batch", "block", "traversal", "biased-opt"})
    EXPECT_TRUE(open(method)) << method;
  for (const std::string_view method : {"plain", "ngram", "auto", "mtad", "mtjd", "specinfer"})
    EXPECT_FALSE(open(method)) << method;
  MethodRequest chain;
  chain.length = 3;
  EXPECT_FALSE(leaves_shape_open(**find_method("speculative"), chain)) << "it has one sequence";
}

TEST(BestShape, WithoutCostsIsFourByFour) {
  const MethodOptions options = chosen("spectr", nullptr);
  EXPECT_EQ(options.drafts, 4U);
  EXPECT_EQ(options.length, 4U);
}

}  // namespace
}  // namespace spectr
