#include "spectr/base/names.h"

#include <gtest/gtest.h>

namespace spectr {
namespace {

TEST(Quote, LeavesPrintableTextAlone) {
  EXPECT_EQ(quote("token_embd.weight"), "\"token_embd.weight\"");
  EXPECT_EQ(quote("naïve ▁the 日本 🙂"), "\"naïve ▁the 日本 🙂\"");
  EXPECT_EQ(quote(""), "\"\"");
}

TEST(Quote, EscapesWhatCouldBreakTheLineOrTheTerminal) {
  EXPECT_EQ(quote("a\nb\rc\td"), R"("a\nb\rc\td")");
  EXPECT_EQ(quote("\x1b[31m"), R"("\x1b[31m")");
  EXPECT_EQ(quote(std::string_view("\0\x7f", 2)), R"("\x00\x7f")");
  EXPECT_EQ(quote("\xc2\x9b"), R"("\xc2\x9b")");  // U+009B, the control sequence introducer
  EXPECT_EQ(quote(R"(say "\")"), R"("say \"\\\"")");
}

TEST(Quote, EscapesBytesThatAreNotUtf8) {
  EXPECT_EQ(quote("\xff\x80z"), R"("\xff\x80z")");
  EXPECT_EQ(quote("\xc0\xaf"), R"("\xc0\xaf")");                  // overlong
  EXPECT_EQ(quote("\xe0\x80\xaf"), R"("\xe0\x80\xaf")");          // overlong
  EXPECT_EQ(quote("\xed\xa0\x80"), R"("\xed\xa0\x80")");          // surrogate
  EXPECT_EQ(quote("\xf0\x80\x80\xaf"), R"("\xf0\x80\x80\xaf")");  // overlong
  EXPECT_EQ(quote("\xf4\x90\x80\x80"), R"("\xf4\x90\x80\x80")");  // above U+10FFFF
  EXPECT_EQ(quote("\xe2\x96"), R"("\xe2\x96")");                  // cut short
}

TEST(Quote, CutsLongTextBetweenCharacters) {
  EXPECT_EQ(quote("abcdef", 6), "\"abcdef\"");
  EXPECT_EQ(quote("abcdef", 4), "\"abcd\"…");
  EXPECT_EQ(quote("ab▁", 4), "\"ab\"…");
}

TEST(Escape, IsQuoteWithoutTheQuotes) {
  EXPECT_EQ(escape("a\nb"), "a\\nb");
  EXPECT_EQ(escape("abcdef", 4), "abcd…");
}

}  // namespace
}  // namespace spectr
