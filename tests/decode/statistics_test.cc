#include "spectr/decode/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace spectr {
namespace {

using testing::ElementsAre;

/// A block of `accepted` drafts and one more token, each of probability ½ under the target.
Block block(std::size_t accepted, std::size_t drafted,
            std::optional<RecycledVector<double>> biases = RecycledVector<double>()) {
  Block block;
  block.tokens.assign(accepted + 1, 7);
  block.sources.assign(accepted, Source::draft);
  block.sources.push_back(Source::correction);
  block.accepted = accepted;
  block.drafted = drafted;
  block.biases = std::move(biases);
  block.negative_log_likelihoods.assign(accepted + 1, std::log(2.0));
  return block;
}

TEST(Statistics, NothingCountedIsZeroNotNan) {
  const Statistics none;
  EXPECT_EQ(none.generated(), 0u);
  EXPECT_EQ(none.block_efficiency(), 0.0);
  EXPECT_EQ(none.acceptance_rate(), 0.0);
  EXPECT_TRUE(none.acceptance_per_position().empty());
  EXPECT_EQ(none.tokens_per_second(), 0.0);
  EXPECT_EQ(none.perplexity(), 1.0);
  EXPECT_EQ(none.bias_tv(), 0.0);
}

TEST(Statistics, AddsUpByTheirDefinitions) {
  Statistics s;
  s.count(block(3, 8), 4);
  s.count(block(0, 8), 1);
  s.count(block(1, 4), 2);
  EXPECT_EQ(s.generated(), 7u);
  EXPECT_EQ(s.target_calls(), 3u);
  EXPECT_EQ(s.drafted(), 20u);
  EXPECT_EQ(s.accepted(), 4u);
  EXPECT_DOUBLE_EQ(s.block_efficiency(), 7.0 / 3.0);
  EXPECT_DOUBLE_EQ(s.acceptance_rate(), 0.2);
  EXPECT_THAT(s.acceptance_per_position(), ElementsAre(2.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0));
  EXPECT_DOUBLE_EQ(s.perplexity(), 2.0);
}

TEST(Statistics, AStopWordCutsABlock) {
  Statistics s;
  s.count(block(3, 8), 2);  // two of the three drafts became text
  EXPECT_EQ(s.generated(), 2u);
  EXPECT_EQ(s.accepted(), 2u);
  EXPECT_EQ(s.drafted(), 8u);
  EXPECT_THAT(s.acceptance_per_position(), ElementsAre(1.0, 1.0));
}

TEST(Statistics, SeveralPassesOfABlockAreCounted) {
  Statistics s;
  Block beams = block(0, 0);
  beams.target_calls = 4;
  s.count(beams, 1);
  EXPECT_EQ(s.target_calls(), 4u);
  EXPECT_DOUBLE_EQ(s.block_efficiency(), 0.25);
}

TEST(Statistics, BiasOfTokensThatWereCutDoesNotCount) {
  Statistics s;
  s.count(block(2, 2, {{0.1, 0.2, 0.4}}), 2);
  EXPECT_NEAR(s.bias_tv().value(), 0.15, 1e-15);
}

TEST(Statistics, BiasIsTheMeanPerTokenOrUnknown) {
  Statistics s;
  s.count(block(1, 2, {{0.1, 0.2}}), 2);
  s.count(block(0, 2, {{0.1}}), 1);
  EXPECT_NEAR(s.bias_tv().value(), 0.4 / 3.0, 1e-15);
  s.count(block(0, 2, std::nullopt), 1);
  EXPECT_EQ(s.bias_tv(), std::nullopt);
  s.count(block(0, 2, {{0.1}}), 1);
  EXPECT_EQ(s.bias_tv(), std::nullopt);  // unknown stays unknown
}

TEST(Statistics, SpeedLeavesThePromptOut) {
  Statistics s;
  s.count(block(3, 8), 4);
  s.prompt_seconds = 1.0;
  s.total_seconds = 3.0;
  EXPECT_DOUBLE_EQ(s.tokens_per_second(), 2.0);
}

}  // namespace
}  // namespace spectr
