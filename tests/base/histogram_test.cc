#include "spectr/base/histogram.h"

#include <gtest/gtest.h>

namespace spectr {
namespace {

TEST(Histogram, CountsWhatIsAtMostABound) {
  Histogram<3> histogram({1.0, 2.5, 10.0});
  for (const double number : {0.0, 1.0, 1.5, 2.5, 2.6, 11.0}) histogram.add(number);
  EXPECT_EQ(histogram.up_to(0), 2u);
  EXPECT_EQ(histogram.up_to(1), 4u);
  EXPECT_EQ(histogram.up_to(2), 5u);
  EXPECT_EQ(histogram.all(), 6u) << "what exceeds the last bound, too";
  EXPECT_EQ(histogram.sum(), 18.6);
}

}  // namespace
}  // namespace spectr
