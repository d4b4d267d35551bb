#include "spectr/base/result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "spectr/base/check.h"
#include "spectr/base/span2d.h"

namespace spectr {
namespace {

using testing::HasSubstr;

Result<int> half(int n) {
  if (n % 2 != 0) return error("{} is odd", n);
  return n / 2;
}

Result<int> quarter(int n) {
  SPECTR_TRY(const int once, half(n));
  SPECTR_TRY(const int twice, half(once));
  return twice;
}

Result<void> is_even(int n) {
  SPECTR_TRY_VOID(half(n));
  return {};
}

Result<std::unique_ptr<int>> boxed(int n) {
  SPECTR_TRY(const int value, half(n));
  return std::make_unique<int>(value);
}

Result<int> unboxed(int n) {
  SPECTR_TRY(const std::unique_ptr<int> box, boxed(n));
  return *box;
}

TEST(Result, TryGivesTheValueOrPassesTheErrorOn) {
  EXPECT_EQ(quarter(12), 3);
  EXPECT_EQ(quarter(7).error().message, "7 is odd");
  EXPECT_EQ(quarter(6).error().message, "3 is odd");
}

TEST(Result, TryVoidPassesTheErrorOn) {
  EXPECT_TRUE(is_even(2));
  EXPECT_EQ(is_even(3).error().message, "3 is odd");
}

TEST(Result, TryMovesWhatCannotBeCopied) {
  EXPECT_EQ(unboxed(8), 4);
  EXPECT_EQ(unboxed(9).error().message, "9 is odd");
}

TEST(Check, ABrokenPreconditionSaysWhatAndWhere) {
  const int rows = -1;
  try {
    SPECTR_CHECK(rows >= 0 && rows < 10);
    FAIL() << "did not throw";
  } catch (const BrokenContract& broken) {
    EXPECT_THAT(broken.what(), HasSubstr("rows >= 0 && rows < 10"));
    EXPECT_THAT(broken.what(), HasSubstr("result_test.cc"));
  }
  EXPECT_NO_THROW(SPECTR_CHECK(rows < 0));
}

TEST(Span2d, RowsAreViewsOfTheMemory) {
  std::vector<float> memory(12);
  const Span2d<float> all(memory.data(), 3, 4);
  all[1][2] = 5.0f;
  EXPECT_EQ(memory[6], 5.0f);
  const Span2d<const float> lower = all.rows(1, 2);
  EXPECT_EQ(lower.rows(), 2u);
  EXPECT_EQ(lower[0][2], 5.0f);
  EXPECT_EQ(all.rows(3, 0).rows(), 0u);
  EXPECT_THROW(all.rows(2, 2), BrokenContract);
}

}  // namespace
}  // namespace spectr
