// Costs that do not match the measured passes are detected.
#include "spectr/decode/costs/cost_check.h"

#include <gtest/gtest.h>

namespace spectr {
namespace {

std::optional<double> off_after(std::size_t blocks, double ratio, std::size_t disturbed = 0) {
  CostCheck check;
  for (std::size_t i = 0; i < blocks; ++i) check.add(i < disturbed ? 9.0 * ratio : ratio, 1.0);
  return check.off();
}

TEST(CostCheck, TellsCostsThatAreOffByMoreThanAQuarter) {
  EXPECT_EQ(off_after(100, 1.2), std::nullopt);
  EXPECT_EQ(off_after(100, 0.85), std::nullopt);
  EXPECT_EQ(off_after(100, 1.3), 1.3);
  EXPECT_EQ(off_after(100, 0.5), 0.5);
}

TEST(CostCheck, SaysNothingOfAFewBlocks) {
  EXPECT_EQ(off_after(CostCheck::min_blocks - 1, 3.0), std::nullopt);
  EXPECT_EQ(off_after(CostCheck::min_blocks, 3.0), 3.0);
}

TEST(CostCheck, DoesNotMindWhatDisturbsTheMachineNowAndThen) {
  EXPECT_EQ(off_after(100, 1.0, 60), std::nullopt);
}

}  // namespace
}  // namespace spectr
