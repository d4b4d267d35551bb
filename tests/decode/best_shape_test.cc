// Default values of K and L.
#include "spectr/decode/costs/best_shape.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include "spectr/decode/auto/auto_params.h"
#include "spectr/decode/costs/learned_position.h"
#include "spectr/decode/suffix_drafter.h"

namespace spectr {
namespace {

/// A target pass of n rows takes 1 + slope (n − 1) seconds; a draft pass takes `draft` for any width.
std::shared_ptr<Costs> costs(double slope, double draft, double acceptance) {
  auto costs = std::make_shared<Costs>(
      Costs{CostCurve({{1, 1.0}, {32, 1.0 + 31.0 * slope}}), {{CostCurve({{1, draft}, {32, draft}})}}, {}});
  LearnedPosition learned = {.confidence = acceptance, .merging = acceptance * acceptance};
  for (std::size_t i = 0; i < learned.accepted.size(); ++i)
    learned.accepted[i] = 1.0 - (1.0 - acceptance) / static_cast<double>(i + 1);
  costs->drafts.front().learned.fill(std::vector(64, learned));
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

/// Returns the trunk length of the best shape for one K and L in tokens per second, by plain loops. All
/// positions are equal, the cost of a draft pass does not depend on its rows, and only passes take time.
std::size_t best_trunk(const Costs& costs, std::size_t K, std::size_t L) {
  const DraftedPosition position = position_of(costs.drafts.front().learned.front()->front());
  std::size_t best = 0;
  double best_rate = 0.0;
  for (std::size_t trunk = 0; trunk < L; ++trunk) {
    std::vector<double> drafts(K + 1, 0.0);  // P(n survive)
    drafts[trunk == 0 ? K : 1] = 1.0;
    double tokens = 1.0, rows = 1.0, merged = 1.0;
    for (std::size_t level = 1; level <= L; ++level) {
      std::vector<double> next(K + 1, 0.0);
      double sum = 0.0;
      for (std::size_t k = 1; k <= K; ++k) {
        for (std::size_t n = 1; n <= k; ++n) {
          next[n] += drafts[k] * position.survivors(k, n);
          sum += drafts[k] * position.survivors(k, n);
        }
      }
      tokens += sum;
      if (level == trunk) {
        next.assign(K + 1, 0.0);
        next[K] = sum;
      }
      drafts = next;
      if (level > trunk) merged *= position.merging;
      rows += level > trunk ? (1.0 - std::pow(1.0 - merged, static_cast<double>(K))) / merged : 1.0;
    }
    const double rate = tokens / (costs.target.seconds(rows) +
                                  static_cast<double>(L) * costs.drafts.front().passes.seconds(1.0));
    if (rate > best_rate) {
      best_rate = rate;
      best = trunk;
    }
  }
  return best;
}

TEST(BestShape, BranchesLaterWhereRowsAreDear) {
  MethodRequest open;
  open.auto_trunk = true;
  open.drafts = 3;
  open.length = 4;
  std::set<std::size_t> trunks;
  for (const double slope : {0.001, 0.05, 0.5}) {
    for (const double acceptance : {0.4, 0.95}) {
      const auto by = costs(slope, 0.2, acceptance);
      const MethodOptions settings = chosen("conditional", by, open, WarpOptions::none());
      EXPECT_EQ(settings.drafts, 3U);
      EXPECT_EQ(settings.length, 4U);
      EXPECT_EQ(settings.trunk, best_trunk(*by, 3, 4)) << slope << ' ' << acceptance;
      trunks.insert(settings.trunk);
    }
  }
  EXPECT_TRUE(trunks.contains(0));
  EXPECT_GT(trunks.size(), 1U);
}

TEST(BestShape, HasNoTrunkUnlessItIsLeftOpen) {
  const auto by = costs(0.5, 0.2, 0.4);
  MethodRequest request;
  request.drafts = 3;
  EXPECT_EQ(chosen("conditional", by, request).trunk, 0U);
  request.length = 4;
  EXPECT_FALSE(leaves_shape_open(**find_method("conditional"), request));
  request.auto_trunk = true;
  EXPECT_TRUE(leaves_shape_open(**find_method("conditional"), request));
  EXPECT_EQ(chosen("conditional", nullptr, request).trunk, 0U);
  EXPECT_FALSE(leaves_shape_open(**find_method("batch"), request)) << "it has no trunk";
  EXPECT_EQ(chosen("batch", by, request).trunk, 0U);
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
  for (const std::string_view method : {"plain", "ngram", "suffix", "auto", "mtad", "mtjd", "specinfer"})
    EXPECT_FALSE(open(method)) << method;
  MethodRequest chain;
  chain.length = 3;
  EXPECT_FALSE(leaves_shape_open(**find_method("speculative"), chain)) << "it has one sequence";
}

TEST(BestShape, LeavesTheLengthOfSuffixDraftsToTheirEstimates) {
  EXPECT_EQ(chosen("suffix", nullptr).length, SuffixDrafter::open_length);
  MethodRequest given;
  given.length = 3;
  EXPECT_EQ(chosen("suffix", nullptr, given).length, 3U);
}

TEST(BestShape, WithoutCostsIsFourByFour) {
  const MethodOptions options = chosen("spectr", nullptr);
  EXPECT_EQ(options.drafts, 4U);
  EXPECT_EQ(options.length, 4U);
}

}  // namespace
}  // namespace spectr
