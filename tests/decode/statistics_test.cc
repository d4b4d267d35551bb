#include "spectr/decode/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace spectr {
namespace {

using testing::ElementsAre;

/// Returns a block of `accepted` drafts and one more token, each of target probability ½.
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

TEST(Statistics, RunsTogetherAreAsOneRunOfAllTheirBlocks) {
  Statistics first, second, all;
  const Block blocks[] = {block(3, 8, {{0.1, 0.2, 0.1, 0.0}}), block(0, 8, {{0.3}}),
                          block(1, 4, {{0.1, 0.1}})};
  for (const Block& one : blocks) all.count(one, one.tokens.size());
  first.count(blocks[0], 4);
  second.count(blocks[1], 1);
  second.count(blocks[2], 2);
  second.prompt_seconds = 1.0;
  second.total_seconds = 3.0;
  first.total_seconds = 2.0;
  first.stages = {0.5, 1.0, 0.25};
  second.stages = {0.25, 0.5, 0.5};
  Statistics sum;
  sum.add(first);
  sum.add(second);
  EXPECT_EQ(sum.blocks(), all.blocks());
  EXPECT_EQ(sum.generated(), all.generated());
  EXPECT_EQ(sum.target_calls(), all.target_calls());
  EXPECT_EQ(sum.drafted(), all.drafted());
  EXPECT_EQ(sum.accepted(), all.accepted());
  EXPECT_EQ(sum.acceptance_per_position(), all.acceptance_per_position());
  EXPECT_DOUBLE_EQ(sum.perplexity(), all.perplexity());
  EXPECT_NEAR(sum.bias_tv().value(), all.bias_tv().value(), 1e-15);
  EXPECT_EQ(sum.rejection(), std::nullopt);
  EXPECT_EQ(sum.prompt_seconds, 1.0);
  EXPECT_EQ(sum.total_seconds, 5.0);
  EXPECT_EQ(sum.stages.draft, 0.75);
  EXPECT_EQ(sum.stages.target, 1.5);
  EXPECT_EQ(sum.stages.select, 0.75);

  Statistics unknown;
  unknown.count(block(0, 2, std::nullopt), 1);
  sum.add(unknown);
  EXPECT_EQ(sum.bias_tv(), std::nullopt);
}

TEST(Statistics, RejectionsOfRunsTogetherAddUp) {
  Statistics sum;
  for (const double rejection : {0.1, 0.4}) {
    Block one = block(0, 1);
    one.rejections = {rejection};
    Statistics run;
    run.count(one, 1);
    sum.add(run);
  }
  EXPECT_DOUBLE_EQ(sum.rejection().value(), 0.25);
}

TEST(Statistics, PositionsThatWereDraftedInVainAreToldToo) {
  Statistics s;
  Block one = block(1, 8);
  one.depth = 4;
  s.count(one, 2);
  EXPECT_THAT(s.acceptance_per_position(), ElementsAre(1.0, 0.0, 0.0, 0.0));
}

TEST(Statistics, AStopWordCutsABlock) {
  Statistics s;
  s.count(block(3, 8), 2);  // two of the three drafts were emitted
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
  EXPECT_EQ(s.bias_tv(), std::nullopt);  // an unknown bias makes the mean unknown
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
