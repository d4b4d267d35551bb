// Selecting K and L by costs and past acceptance preserves the distribution.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tests/support/tabular_pair.h"
#include "tests/support/value_of.h"

namespace spectr {
namespace {

using namespace test;

TEST(Auto, HasTheTargetsDistributionWhateverItChooses) {
  std::set<double> calls;
  for (const std::uint32_t seed : {1u, 2u, 3u, 4u}) {
    const TabularPair pair = TabularPair::random(2, 4, seed);
    for (const double slope : {0.15, 0.2, 0.3, 0.4}) {
      const MethodDistribution found = method_distribution(pair, "auto", measured(slope, {0.1}));
      EXPECT_LE(found.tv, 1e-12) << "seed " << seed << ", slope " << slope;
      EXPECT_LT(found.exact.expected_target_calls, 3.9) << "seed " << seed << ", slope " << slope;
      calls.insert(found.exact.expected_target_calls);
    }
  }
  EXPECT_LT(*calls.begin(), 3.0) << "it drafts much";
  EXPECT_GT(calls.size(), 4U) << "and not always alike";
}

TEST(Auto, HasTheTargetsDistributionByKSeqWhereTheOptimalPlanIsDear) {
  const MethodOptions by_optimum = measured(0.25, {0.1});
  Costs costs = *by_optimum.costs;
  costs.select.optimal = 0.1;
  ASSERT_FALSE(costs.optimal_pays());
  MethodOptions by_k_seq;
  by_k_seq.costs = std::make_shared<const Costs>(std::move(costs));
  double calls = 0.0, fewer = 0.0;
  for (const std::uint32_t seed : {1u, 2u, 3u}) {
    const TabularPair pair = TabularPair::random(3, 4, seed);
    const MethodDistribution found = method_distribution(pair, "auto", by_k_seq);
    EXPECT_LE(found.tv, 1e-12) << seed;
    calls += found.exact.expected_target_calls;
    fewer += method_distribution(pair, "auto", by_optimum).exact.expected_target_calls;
  }
  EXPECT_LT(fewer, calls - 1e-6) << "it is k-Seq that chooses";
}

TEST(Auto, KeepsTheDistributionWithEndTokensAndFilters) {
  WarpOptions warp = WarpOptions::none();
  warp.top_k = 2;
  warp.temperature = 0.7;
  const EnumerationSettings settings{.horizon = 4, .ends = {1}, .warp = warp};
  for (const std::vector<double>& drafts : {std::vector{0.1}, {0.1, 0.05}, {}}) {
    const TabularPair pair = TabularPair::random(3, 4, 5, drafts.size());
    const MethodDistribution found = method_distribution(pair, "auto", measured(0.1, drafts), settings);
    EXPECT_LE(found.tv, 1e-12) << drafts.size();
    if (drafts.empty()) continue;
    EXPECT_LT(found.exact.expected_target_calls,
              0.95 * method_distribution(pair, "plain", {}, settings).exact.expected_target_calls)
        << "it drafts";
  }
}

TEST(Auto, DecodesPlainlyWhereNothingPays) {
  // A draft pass costs as much as a target pass, and each row as much as a whole pass.
  const MethodDistribution found =
      method_distribution(TabularPair::random(3, 4, 1), "auto", measured(1.0, {1.0}));
  EXPECT_NEAR(found.exact.expected_target_calls, 4.0, 1e-12);
  EXPECT_EQ(found.exact.expected_rejections, 0.0);
}

TEST(Auto, DraftsWhereDraftsAreFree) {
  const MethodDistribution found = method_distribution(TabularPair::random(2, 3, 1).with_equal_draft(),
                                                       "auto", measured(0.3, {1e-6}), {.horizon = 3});
  EXPECT_LT(found.exact.expected_target_calls, 2.0);
}

TEST(Auto, KeepsTheDistributionWhereItDraftsFromTheText) {
  // Nodes are cheap; a draft pass costs as much as a target pass.
  for (const std::uint32_t seed : {1u, 2u}) {
    const TabularPair pair = TabularPair::random(2, 6, seed);
    const MethodDistribution found = method_distribution(pair, "auto", measured(0.02, {1.0}), {.horizon = 6});
    EXPECT_LE(found.tv, 1e-12) << "seed " << seed;
    EXPECT_LT(found.exact.expected_target_calls, 5.0) << "seed " << seed;
  }
}

TEST(Auto, KeepsTheDistributionAndDraftsWhereASequenceIsNotTooLong) {
  // After a long sequence, attention makes a row as expensive as a pass.
  Costs costs{CostCurve({{1, 1.0}, {2, 1.1}}, {.behind = 0, .per_token = 0.05}),
              {{CostCurve({{1, 0.1}, {2, 0.11}})}},
              {}};
  MethodOptions options;
  options.costs = std::make_shared<const Costs>(std::move(costs));
  const TabularPair pair = TabularPair::random(2, 1, 1);
  const EnumerationOptions enumeration{.horizon = 4};
  const auto calls_after = [&](std::size_t length) {
    Decoder decoder = decoder_of("auto", options);
    OwnedModels models = pair.models("auto", decoder, WarpOptions::none(), 420);
    const std::vector<Token> prompt(length, 0);
    const auto found = enumerate_decoder(decoder, models, prompt, enumeration);
    const auto target = enumerate_target(models, prompt, enumeration);
    EXPECT_TRUE(found && target) << length;
    EXPECT_LE(total_variation(found->distribution, *target), 1e-12) << length;
    return found->expected_target_calls;
  };
  EXPECT_NEAR(calls_after(400), 4.0, 1e-12);  // plain decoding
  EXPECT_LT(calls_after(4), 3.5);
}

TEST(Auto, IsEnumeratedAsItGenerates) {
  // After a long prompt it knows that the draft model is useless; after a single token it must try.
  const TabularPair useless = TabularPair::constant(std::vector{1.0, 0.0}, std::vector{0.0, 1.0});
  const auto rejections = [&](const std::vector<Token>& prompt) {
    Decoder decoder = decoder_of("auto", measured(0.1, {0.1}));
    OwnedModels models = useless.models("auto", decoder, WarpOptions::none(), 16);
    return value_of(enumerate_decoder(decoder, models, prompt, {.horizon = 4})).expected_rejections;
  };
  EXPECT_GE(rejections({0}), 1.0);
  EXPECT_EQ(rejections({0, 0, 1, 0, 1, 1}), 0.0);
}

TEST(Auto, KeepsTheDistributionWhereThePromptTellsWhatDraftsAreWorth) {
  std::set<double> calls;
  for (const std::uint32_t seed : {1u, 2u, 3u}) {
    for (const std::vector<double>& drafts : {std::vector{0.1}, {0.1, 0.05}}) {
      const TabularPair pair = TabularPair::random(2, 12, seed, drafts.size());
      for (const std::vector<Token>& prompt : {std::vector<Token>{0, 1}, {1, 0, 0, 1, 1, 0, 1}}) {
        Decoder decoder = decoder_of("auto", measured(0.25, drafts));
        OwnedModels models = pair.models("auto", decoder, WarpOptions::none(), 12);
        const auto found = enumerate_decoder(decoder, models, prompt, {.horizon = 4});
        const auto target = enumerate_target(models, prompt, {.horizon = 4});
        ASSERT_TRUE(found && target);
        EXPECT_LE(total_variation(found->distribution, *target), 1e-12)
            << "seed " << seed << ", " << prompt.size();
        calls.insert(found->expected_target_calls);
      }
    }
  }
  EXPECT_LT(*calls.begin(), 3.0) << "it drafts much";
  EXPECT_GT(calls.size(), 8U) << "and not always alike";
}

TEST(Auto, KeepsTheDistributionWithTrainedDrafters) {
  // The first model, or both, have the costs of a trained drafter, with and without blocks.
  double fewest = 4.0;
  for (const std::uint32_t seed : {1u, 2u}) {
    for (const std::size_t models : {1U, 2U}) {
      for (const std::optional<std::size_t> block : {std::optional<std::size_t>(), {1U}, {2U}}) {
        MethodOptions options = measured(0.35, std::vector(models, 0.05));
        Costs costs = *options.costs;
        costs.drafts.front().first = 0.1;
        costs.drafts.front().block = block;
        options.costs = std::make_shared<const Costs>(std::move(costs));
        const TabularPair pair = TabularPair::random(2, 12, seed, models);
        for (const std::vector<Token>& prompt : {std::vector<Token>{0, 1}, {1, 0, 0, 1, 1, 0, 1}}) {
          Decoder decoder = decoder_of("auto", options);
          OwnedModels sessions = pair.models("auto", decoder, WarpOptions::none(), 12);
          const auto found = enumerate_decoder(decoder, sessions, prompt, {.horizon = 4});
          const auto target = enumerate_target(sessions, prompt, {.horizon = 4});
          ASSERT_TRUE(found && target);
          EXPECT_LE(total_variation(found->distribution, *target), 1e-12)
              << "seed " << seed << ", " << models << " models, block of " << block.value_or(0);
          fewest = std::min(fewest, found->expected_target_calls);
        }
      }
    }
  }
  EXPECT_LT(fewest, 3.5) << "it drafts";
}

TEST(Auto, KeepsTheDistributionWithSeveralDraftModelsAndWithNone) {
  for (const std::uint32_t seed : {1u, 2u}) {
    for (const std::vector<double>& drafts : {std::vector{0.1, 0.1}, {0.1, 0.01}, {0.3, 0.1, 0.2}, {}}) {
      const TabularPair pair = TabularPair::random(2, 4, seed, drafts.size());
      const MethodDistribution found = method_distribution(pair, "auto", measured(0.2, drafts));
      EXPECT_LE(found.tv, 1e-12) << "seed " << seed << ", " << drafts.size() << " draft models";
      EXPECT_LT(found.exact.expected_target_calls, 3.9) << drafts.size();
    }
  }
}

}  // namespace
}  // namespace spectr
