// Means, errors, ROUGE-L and tables, checked by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "apps/bench/mean.h"
#include "apps/bench/rouge.h"
#include "apps/bench/table.h"

namespace spectr::bench {
namespace {

TEST(Mean, HasTheStandardErrorOfTheMean) {
  const double values[] = {1.0, 2.0, 3.0, 6.0};
  const Mean mean = mean_of(values);
  EXPECT_DOUBLE_EQ(mean.value, 3.0);
  EXPECT_DOUBLE_EQ(mean.error.value(), std::sqrt(14.0 / 3.0 / 4.0));  // s² = (4 + 1 + 0 + 9)/3
}

TEST(Mean, OfOneValueHasNoError) {
  const double one[] = {5.0};
  EXPECT_EQ(mean_of(one).value, 5.0);
  EXPECT_FALSE(mean_of(one).error);
}

TEST(Deviation, IsThatOfASample) {
  const double values[] = {1.0, 2.0, 3.0, 6.0};
  EXPECT_DOUBLE_EQ(deviation_of(values).value(), std::sqrt(14.0 / 3.0));
  EXPECT_FALSE(deviation_of(std::span(values).first(1)));
}

TEST(Ratio, OfProportionalValuesIsCertain) {
  const double a[] = {2.0, 4.0, 9.0}, b[] = {1.0, 2.0, 4.5};
  const Mean ratio = ratio_of(a, b);
  EXPECT_DOUBLE_EQ(ratio.value, 2.0);
  EXPECT_NEAR(ratio.error.value(), 0.0, 1e-15);
}

TEST(Ratio, HasTheErrorOfTheDeltaMethod) {
  const double a[] = {3.0, 1.0}, b[] = {1.0, 1.0};  // r = 2, deviations ±1: s = √2, error √2/√2/1
  const Mean ratio = ratio_of(a, b);
  EXPECT_DOUBLE_EQ(ratio.value, 2.0);
  EXPECT_DOUBLE_EQ(ratio.error.value(), 1.0);
}

TEST(Rouge, IsTheF1OfTheLongestCommonSubsequence) {
  // Lin (2004): three of four words in order, two of four.
  EXPECT_DOUBLE_EQ(rouge_l("police kill the gunman", "police killed the gunman"), 0.75);
  EXPECT_DOUBLE_EQ(rouge_l("the gunman kill police", "police killed the gunman"), 0.5);
  EXPECT_DOUBLE_EQ(rouge_l("a b c d e", "b d"), 2.0 * 2.0 / 7.0);
}

TEST(Rouge, IgnoresCaseAndPunctuation) {
  EXPECT_DOUBLE_EQ(rouge_l("The cat, sat.", "the CAT sat"), 1.0);
  EXPECT_DOUBLE_EQ(rouge_l("", "word"), 0.0);
  EXPECT_DOUBLE_EQ(rouge_l("...", "word"), 0.0);
}

TEST(Table, AlignsCharactersRatherThanBytes) {
  EXPECT_EQ(plot::aligned({"name", "x"}, {{"a", "1 ± 2"}, {"long name", "3"}}),
            "name           x\n"
            "a          1 ± 2\n"
            "long name      3\n");
}

TEST(Table, FlattensObjectsAndListsToColumns) {
  const Json rows = {{{"a", 1}, {"b", nullptr}, {"c", {{"d", 0.5}}}},
                     {{"a", 2}, {"b", {1, 2}}, {"c", {{"d", 0.25}}}, {"e", "x, \"y\""}}};
  EXPECT_EQ(flat({{{"a", {{"b", {{"c", 1}}}}}}}).csv(), "a_b_c\n1\n");
  EXPECT_EQ(flat(rows).csv(), "a,b,c_d,e\n1,,0.5,\n2,1 2,0.25,\"x, \"\"y\"\"\"\n");
}

}  // namespace
}  // namespace spectr::bench
