// Tests of the flags that configure models.
#include "apps/cli/flags/model_flags.h"

#include <gtest/gtest.h>

namespace spectr::cli {
namespace {

TEST(ModelFlags, AutoTriesSmallDraftsOnTheProcessorOnly) {
  const MethodRule& method = **find_method("auto");
  const CostFile costs;
  ModelFlags flags;
  EXPECT_TRUE(draft_options(flags, method, costs).choose_draft);
  flags.device.target = "CUDA0";
  EXPECT_FALSE(draft_options(flags, method, costs).choose_draft);
  flags.device.draft_given = true;
  EXPECT_TRUE(draft_options(flags, method, costs).choose_draft) << "drafts stay on the processor";
}

}  // namespace
}  // namespace spectr::cli
