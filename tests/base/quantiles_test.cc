#include <gtest/gtest.h>

#include "spectr/base/numeric.h"

namespace spectr {
namespace {

TEST(Median, IsTheNumberInTheMiddleOrTheHigherOfTwo) {
  EXPECT_EQ(median({3.0}), 3.0);
  EXPECT_EQ(median({5.0, 1.0, 3.0}), 3.0);
  EXPECT_EQ(median({4.0, 1.0, 3.0, 2.0}), 3.0);
}

TEST(LowerQuartile, HasAQuarterOfTheOthersBelowIt) {
  EXPECT_EQ(lower_quartile({3.0}), 3.0);
  EXPECT_EQ(lower_quartile({5.0, 1.0, 3.0}), 1.0);
  EXPECT_EQ(lower_quartile({4.0, 1.0, 3.0, 2.0, 5.0}), 2.0);
}

}  // namespace
}  // namespace spectr
