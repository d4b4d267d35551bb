#include "spectr/text/stop_words.h"

#include <gtest/gtest.h>

namespace spectr {
namespace {

TEST(StopWords, FindsTheFirstOfThemAlsoWhenItCameInPieces) {
  const StopWords words({"and then", "end", ""});
  EXPECT_FALSE(words.find("and th", 0));
  const auto found = words.find("Sun and then the end", 9);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->begin, 4u);
  EXPECT_EQ(found->word, "and then");
  EXPECT_FALSE(words.find("the end, as was seen before", 7)) << "only what is new is looked at";
}

TEST(StopWords, WhatCouldBecomeAWordIsNotCertain) {
  const StopWords words({"\n\n", "User:"});
  EXPECT_EQ(words.certain("Hello"), 5u);
  EXPECT_EQ(words.certain("Hello Us"), 6u);
  EXPECT_EQ(words.certain("Hello\n"), 5u);
  EXPECT_EQ(words.certain("Hello User!"), 11u);
  EXPECT_EQ(StopWords().certain("Hello\n"), 6u);
}

}  // namespace
}  // namespace spectr
