#include <gtest/gtest.h>

#include <vector>

#include "spectr/base/numeric.h"

namespace spectr {
namespace {

TEST(Sum, KeepsWhatOneAdditionAfterTheOtherLoses) {
  Sum sum;
  for (double x : {1.0, 1e100, 1.0, -1e100}) sum.add(x);
  EXPECT_EQ(sum.value(), 2.0);
  Sum many;
  many.add(1.0);
  for (int i = 0; i < 1'000'000; ++i) many.add(1e-17);
  EXPECT_DOUBLE_EQ(many.value(), 1.0 + 1e-11);
}

TEST(SumInBlocks, AsksForEveryTermOnceAndInOrder) {
  for (const std::size_t n : {0u, 1u, 1023u, 1024u, 1025u, 5000u}) {
    std::vector<std::size_t> asked;
    const double sum = sum_in_blocks(3, 3 + n, [&](std::size_t i) {
      asked.push_back(i);
      return static_cast<double>(i);
    });
    ASSERT_EQ(asked.size(), n);
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(asked[i], 3 + i);
    EXPECT_EQ(sum, static_cast<double>(n * (n + 5) / 2));
  }
}

// A plain sum of this many tenths has a relative error of 1.6e-10.
TEST(SumInBlocks, RoundingDoesNotGrowWithTheNumberOfTerms) {
  constexpr std::size_t n = 10'000'000;
  const double sum = sum_in_blocks(0, n, [](std::size_t) { return 0.1; });
  EXPECT_NEAR(sum, 0.1 * n, 1e-13 * n);
}

TEST(SumOf, AddsUpEveryNumber) {
  for (const std::size_t n : {0u, 1u, 7u, 8u, 9u, 100u}) {
    std::vector<double> x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<double>(i * i);
    double expected = 0.0;
    for (double number : x) expected += number;
    EXPECT_EQ(sum_of(x), expected);
  }
}

}  // namespace
}  // namespace spectr
