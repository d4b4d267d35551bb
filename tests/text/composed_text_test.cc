#include "spectr/text/composed_text.h"

#include <gtest/gtest.h>

#include <string>

namespace spectr {
namespace {

TEST(ComposedText, ALetterAndItsMarkBecomeOneCharacter) {
  EXPECT_EQ(composed_text("e\u0301"), "\u00E9");
  EXPECT_EQ(composed_text("Cafe\u0301 A\u030A"), "Caf\u00E9 \u00C5");
  EXPECT_EQ(composed_text("\u1112\u1161\u11AB"), "\uD55C") << "Hangul";
}

TEST(ComposedText, MarksHaveTheirCanonicalOrder) {
  EXPECT_EQ(composed_text("q\u0307\u0323"), "q\u0323\u0307");
  EXPECT_EQ(composed_text("\u1E0B\u0323"), "\u1E0D\u0307") << "composed ones, too";
}

TEST(ComposedText, CharactersWithACanonicalTwinBecomeIt) {
  EXPECT_EQ(composed_text("\u212B\u2126"), "\u00C5\u03A9");
  EXPECT_EQ(composed_text("\uFB01\u00B2"), "\uFB01\u00B2") << "compatible ones do not";
  EXPECT_EQ(composed_text("\u0958"), "\u0915\u093C") << "excluded from composition";
}

TEST(ComposedText, WhatIsComposedStays) {
  for (const char* text : {"", "plain", "\u00E9t\u00E9", "\u4F60\u597D", "\U0001F999", "\u0301"})
    EXPECT_EQ(composed_text(text), text);
}

TEST(ComposedText, BytesThatAreNotUtf8StayAndKeepApart) {
  EXPECT_EQ(composed_text("e\xFF\u0301"), "e\xFF\u0301");
  EXPECT_EQ(composed_text("\xE2\x96"), "\xE2\x96");
  EXPECT_EQ(composed_text("\xCC"
                          "e\u0301\xCC"),
            "\xCC\u00E9\xCC");
}

TEST(ComposedText, MarksWithoutEndAreSortedInTime) {  // a quadratic sort would time out
  constexpr std::size_t n = 1 << 19;
  std::string marks = "q", sorted = "q";
  for (std::size_t i = 0; i < n; ++i) marks += "\u0307\u0323";
  for (std::size_t i = 0; i < n; ++i) sorted += "\u0323";
  for (std::size_t i = 0; i < n; ++i) sorted += "\u0307";
  EXPECT_EQ(composed_text(marks), sorted);
}

}  // namespace
}  // namespace spectr
