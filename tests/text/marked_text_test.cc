#include "spectr/text/marked_text.h"

#include <gmock/gmock.h>

#include <random>
#include <utility>

namespace spectr {
namespace {

using testing::ElementsAre;
using Span = MarkedText::Span;

TEST(MarkedText, QuotesThatTouchAreOne) {
  MarkedText text("ab", true);
  text.append("cd", true).append("").append("", true).append("e").append("f", true);
  EXPECT_EQ(text.bytes(), "abcdef");
  EXPECT_THAT(text.quotes(), ElementsAre(Span{0, 4}, Span{5, 6}));
  EXPECT_TRUE(MarkedText("", true).quotes().empty());
}

TEST(MarkedText, ConsistsOfItsPieces) {
  const MarkedText text = MarkedText("a").append("bc", true).append("d");
  MarkedText again;
  for (const auto& [bytes, quoted] : text.pieces()) again.append(bytes, quoted);
  EXPECT_EQ(again.bytes(), text.bytes());
  EXPECT_THAT(again.quotes(), ElementsAre(Span{1, 3}));
  EXPECT_TRUE(MarkedText().pieces().empty());
}

/// Returns each byte with a flag that is true if it is quoted.
std::vector<std::pair<char, bool>> marks(const MarkedText& text) {
  std::vector<std::pair<char, bool>> out;
  for (const auto& [bytes, quoted] : text.pieces()) {
    for (const char byte : bytes) out.emplace_back(byte, quoted);
  }
  return out;
}

TEST(MarkedText, PartsAndSumsKeepTheMarkOfEveryByte) {
  std::mt19937 random(3);
  MarkedText text;
  std::vector<std::pair<char, bool>> expected;
  for (int i = 0; i < 300; ++i) {
    const std::string bytes(random() % 3, static_cast<char>('a' + random() % 26));
    const bool quoted = random() % 2 == 0;
    text.append(bytes, quoted);
    for (const char byte : bytes) expected.emplace_back(byte, quoted);
  }
  EXPECT_EQ(marks(text), expected);
  const std::string_view whole = text.bytes();
  for (int i = 0; i < 300; ++i) {
    const std::size_t begin = random() % whole.size(), size = random() % (whole.size() - begin);
    const MarkedText part = text.part(whole.substr(begin, size));
    const std::vector some(expected.begin() + static_cast<std::ptrdiff_t>(begin),
                           expected.begin() + static_cast<std::ptrdiff_t>(begin + size));
    EXPECT_EQ(marks(part), some);
    for (const Span& quote : part.quotes()) EXPECT_LT(quote.begin, quote.end);
  }
}

}  // namespace
}  // namespace spectr
