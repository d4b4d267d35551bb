// How small a draft model may be is tried.
#include "spectr/engine/slim_trial.h"

#include <gtest/gtest.h>

#include "tests/support/data.h"
#include "tests/support/real_model.h"

namespace spectr {
namespace {

using namespace test;

TEST(SlimTrial, ComparesTheFileWithWhatCanBeMadeOfIt) {
  const RealModel target = RealModel::load(bundled_target, 2);
  const auto trials = try_slim(*target, *target.tokenizer, *find_data(bundled_draft), *target.pool, {});
  ASSERT_TRUE(trials) << trials.error().message;
  ASSERT_EQ(trials->size(), 3U);
  EXPECT_EQ(trials->front().options, SlimOptions());
  EXPECT_EQ((*trials)[1].options.type, TensorType::q4_0);
  for (const SlimTrial& trial : *trials) {
    EXPECT_GT(trial.pass_seconds, 0.0);
    EXPECT_GT(trial.acceptance, 0.2);
    EXPECT_LT(trial.acceptance, 1.0);
    EXPECT_GT(trial.speedup, 0.0);
  }
  // All 4,096 tokens are among the first 32,768, so that nothing but the weights differs.
  EXPECT_EQ((*trials)[2].acceptance, (*trials)[1].acceptance);
  EXPECT_LT((*trials)[1].acceptance, trials->front().acceptance + 0.02);
}

TEST(SlimTrial, LeavesOutWhatTheFileCannotBecome) {
  const RealModel target = RealModel::load(tiny_target);
  const auto trials = try_slim(*target, *target.tokenizer, *find_data(tiny_target), *target.pool, {});
  ASSERT_TRUE(trials) << trials.error().message;
  ASSERT_EQ(trials->size(), 1U) << "its matrices have 172 columns";
  EXPECT_NEAR(trials->front().acceptance, 1.0, 1e-6) << "its own draft";
}

TEST(SlimTrial, ChangesTheFileForSomethingOnly) {
  const SlimTrial whole{{}, 0.01, 0.7, 1.5};
  SlimTrial slim{{TensorType::q4_0}, 0.009, 0.69, 1.51};
  EXPECT_EQ(best_of({whole, slim}).options, SlimOptions());
  slim.speedup = 1.7;
  EXPECT_EQ(best_of({whole, slim}).options, slim.options);
}

}  // namespace
}  // namespace spectr
