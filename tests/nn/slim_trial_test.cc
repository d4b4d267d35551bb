// Tests of the trial that finds how small a draft model can be.
#include "spectr/engine/costs/slim_trial.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "tests/support/data.h"
#include "tests/support/real_model.h"

namespace spectr {
namespace {

using namespace test;

TEST(SlimTrial, ComparesTheFileWithWhatCanBeMadeOfIt) {
  const RealModel target = RealModel::load(bundled_target, 2);
  const auto trials = try_slim(*target, *target.tokenizer, *find_data(bundled_draft), *target.pool, {});
  ASSERT_TRUE(trials) << trials.error().message;
  const std::vector<SlimTrial>& tried = trials->trials;
  ASSERT_EQ(tried.size(), 3U);
  EXPECT_EQ(tried.front().options, SlimOptions());
  EXPECT_EQ(tried[1].options.type, TensorType::q4_0);
  for (const SlimTrial& trial : tried) {
    EXPECT_GT(trial.pass_seconds, 0.0);
    EXPECT_GT(trial.acceptance, 0.2);
    EXPECT_LT(trial.acceptance, 1.0);
    EXPECT_GT(trial.speedup, 0.0);
  }
  // All 4,096 tokens are among the first 32,768, so only the weights differ.
  EXPECT_EQ(tried[2].acceptance, tried[1].acceptance);
  EXPECT_LT(tried[1].acceptance, tried.front().acceptance + 0.02);
}

TEST(SlimTrial, GivesTheModelThatItChooses) {
  const RealModel target = RealModel::load(bundled_target, 2);
  std::vector<std::size_t> done;
  const auto trials = try_slim(*target, *target.tokenizer, *find_data(bundled_draft), *target.pool, {},
                               slim_variants().first(1), [&](std::size_t tried) { done.push_back(tried); });
  ASSERT_TRUE(trials) << trials.error().message;
  EXPECT_EQ(trials->chosen(), SlimOptions());
  EXPECT_EQ(trials->model.transformer->vocabulary(), target->vocabulary());
  EXPECT_EQ(done, (std::vector<std::size_t>{0, 1}));
}

TEST(SlimTrial, LeavesOutWhatTheFileCannotBecome) {
  const RealModel target = RealModel::load(tiny_target);
  const auto trials = try_slim(*target, *target.tokenizer, *find_data(tiny_target), *target.pool, {});
  ASSERT_TRUE(trials) << trials.error().message;
  ASSERT_EQ(trials->trials.size(), 1U) << "its matrices have 172 columns";
  EXPECT_NEAR(trials->trials.front().acceptance, 1.0, 1e-6) << "its own draft";
}

TEST(SlimTrial, ChangesTheFileForSomethingOnly) {
  const SlimTrial whole{{}, 0.01, 0.7, 1.5};
  SlimTrial slim{{TensorType::q4_0}, 0.009, 0.69, 1.51};
  EXPECT_EQ(best_of({whole, slim}), 0U);
  slim.speedup = 1.7;
  EXPECT_EQ(best_of({whole, slim}), 1U);
}

}  // namespace
}  // namespace spectr
