#include <gtest/gtest.h>

#include "spectr/base/numeric.h"

namespace spectr {
namespace {

TEST(Rounding, GoesUpAndLeavesMultiplesAlone) {
  static_assert(div_up(0, 3) == 0 && div_up(1, 3) == 1 && div_up(3, 3) == 1 && div_up(4, 3) == 2);
  for (std::size_t by = 1; by < 9; ++by) {
    for (std::size_t n = 0; n < 50; ++n) {
      const std::size_t found = round_up(n, by);
      EXPECT_EQ(found % by, 0u);
      EXPECT_GE(found, n);
      EXPECT_LT(found, n + by);
      EXPECT_EQ(div_up(n, by), found / by);
    }
  }
}

}  // namespace
}  // namespace spectr
